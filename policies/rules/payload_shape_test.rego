package sallyport.rules.payload_shape_test

import data.sallyport.fixtures_test as fixtures
import data.sallyport.rules.payload_shape
import rego.v2

test_object_passes if payload_shape.deny == set() with input as fixtures.clean

test_unread_object_is_not_its_business if payload_shape.deny == set() with input as fixtures.unread(70000)

test_not_an_object[type] if {
	some type, name in {
		"array": "an array",
		"boolean": "a boolean",
		"null": "null",
		"number": "a number",
		"string": "a string",
		"unknown": "this",
	}
	payload_shape.deny == {{
		"path": "",
		"reason": sprintf("arguments must be a JSON object, not %s", [name]),
		"halt": true,
	}} with input as fixtures.with_members({"/facts/type": type})
}

test_type_missing if {
	payload_shape.deny == {{
		"path": "",
		"reason": "arguments must be a JSON object, not this",
		"halt": true,
	}} with input as fixtures.without(["/facts/type"])
}

# An array that is malformed, too, is refused for being an array.
test_type_comes_before_fault if {
	call := json.patch(fixtures.faulty("syntax", "/0", 4), [{"op": "add", "path": "/facts/type", "value": "array"}])
	payload_shape.deny == {{
		"path": "",
		"reason": "arguments must be a JSON object, not an array",
		"halt": true,
	}} with input as call
}

test_fault_of_unknown_type if {
	call := json.patch(fixtures.faulty("byte_order_mark", "", 0), [{"op": "add", "path": "/facts/type", "value": "unknown"}])
	payload_shape.deny == {{
		"path": "",
		"reason": "malformed JSON at byte 0: a byte order mark is not allowed",
		"halt": true,
	}} with input as call
}

test_fault[code] if {
	some code, problem in {
		"byte_order_mark": "a byte order mark is not allowed",
		"duplicate_key": "this key appears twice in its object",
		"empty": "there is no value",
		"invalid_utf8": "the text is not valid UTF-8",
		"lone_surrogate": "a surrogate escape has no partner",
		"number_exponent": "the exponent of a number is beyond 308",
		"number_length": "a number has more than 64 characters",
		"raw_control_character": "a control character in a string must be escaped",
		"syntax": "unexpected character",
		"trailing_data": "there is more after the value",
		"unexpected_end": "the text ends too early",
		"from_the_future": "unknown fault",
	}
	payload_shape.deny == {{
		"path": "/a~1b",
		"reason": sprintf("malformed JSON at byte 17: %s", [problem]),
		"halt": true,
	}} with input as fixtures.faulty(code, "/a~1b", 17)
}
