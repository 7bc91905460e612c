package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/sallyport-mcp/sallyport/server"
	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

func readMessage(w http.ResponseWriter, r *http.Request) (message []byte, m frame.Message, ok bool) {
	message, err := io.ReadAll(io.LimitReader(r.Body, server.MaxMessageBytes+1))
	if err == nil {
		m, err = frame.Read(message)
	}
	if err != nil {
		http.Error(w, "the message cannot be read", http.StatusBadRequest)
		return nil, m, false
	}
	return message, m, true
}

// exchange sends a message to the child, and answers with what comes for it: JSON, where
// the client takes nothing else, or a stream. It says whether the exchange came to its
// end.
func exchange(w http.ResponseWriter, r *http.Request, l *link, m frame.Message, message []byte) (whole bool) {
	if m.Kind != frame.Request {
		if l.send(message) != nil {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusAccepted)
		return true
	}
	p, err := l.request(m, message)
	switch {
	case errors.Is(err, errSameID):
		http.Error(w, err.Error(), http.StatusBadRequest)
		return true
	case err != nil:
		panic(http.ErrAbortHandler) // the judge answers
	}
	defer l.forget(p)
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		events(w)
		whole = pump(r.Context(), w, p.queue)
	} else {
		whole = answerJSON(r.Context(), w, p.queue)
	}
	if !whole && r.Context().Err() == nil {
		panic(http.ErrAbortHandler) // the child is gone: the judge says so
	}
	return whole
}

// events starts a stream of events.
func events(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
}

// pump writes what comes as events, until an answer has, or nothing comes any more. It
// says whether an answer was the last.
func pump(ctx context.Context, w http.ResponseWriter, q *queue) (answered bool) {
	for {
		items, open := q.take()
		for _, message := range items {
			if _, err := w.Write([]byte("event: message\ndata: " + string(message) + "\n\n")); err != nil {
				return false
			}
			answered = isResponse(message)
		}
		if len(items) > 0 {
			_ = http.NewResponseController(w).Flush()
		}
		if !open {
			return answered
		}
		select {
		case <-q.more:
		case <-ctx.Done():
			return false
		}
	}
}

func isResponse(message []byte) bool {
	m, err := frame.Read(message)
	return err == nil && m.Kind == frame.Response
}

// answerJSON writes the answer alone.
func answerJSON(ctx context.Context, w http.ResponseWriter, q *queue) bool {
	for {
		items, open := q.take()
		for _, message := range items {
			if isResponse(message) {
				w.Header().Set("Content-Type", "application/json")
				_, err := w.Write(message)
				return err == nil
			}
		}
		if !open {
			return false
		}
		select {
		case <-q.more:
		case <-ctx.Done():
			return false
		}
	}
}
