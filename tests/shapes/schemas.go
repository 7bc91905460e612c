package shapes

// Each schema bounds what a careful author would bound, and uses no keyword that the
// drafts or the validators read differently.
const (
	textSchema = `{"type": "object", "additionalProperties": false, "required": ["text"], "properties": {
	"text": {"type": "string", "minLength": 1, "maxLength": 65536}}}`

	leavesSchema = `{"type": "object", "additionalProperties": false, "required": ["values"], "properties": {
	"values": {"type": "array", "minItems": 1, "maxItems": 20000, "items": {
		"type": ["integer", "string", "boolean", "null"], "minimum": 0, "maximum": 1000000, "maxLength": 16}}}}`

	objectsSchema = `{"type": "object", "additionalProperties": false, "required": ["rows"], "properties": {
	"rows": {"type": "array", "minItems": 1, "items": {
		"type": "object", "additionalProperties": false, "required": ["id", "name", "done"], "properties": {
			"id": {"type": "integer", "minimum": 0},
			"name": {"type": "string", "maxLength": 32, "pattern": "^row [0-9]+$"},
			"done": {"type": "boolean"}}}}}}`

	nestedSchema = `{"type": "object", "additionalProperties": false, "required": ["a"], "properties": {
	"a": {"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/level"}}},
	"definitions": {"level": {"type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1, "properties": {
		"k": {"$ref": "#/definitions/level"},
		"v": {"type": "array", "maxItems": 4, "items": {"type": "integer"}}}}}}`

	// The one of the long string says nothing of its length: that is what the rule on
	// size is for.
	longStringSchema = `{"type": "object", "additionalProperties": false, "required": ["a"], "properties": {
	"a": {"type": "string", "minLength": 1}}}`

	bracketsSchema = `{"type": "object", "additionalProperties": false, "required": ["a"], "properties": {
	"a": {"type": "array", "maxItems": 16}}}`

	stringsSchema = `{"type": "object", "additionalProperties": false, "required": ["a"], "properties": {
	"a": {"type": "array", "maxItems": 1000, "items": {"type": "string", "maxLength": 64}}}}`

	integersSchema = `{"type": "object", "additionalProperties": false, "required": ["a"], "properties": {
	"a": {"type": "array", "items": {"type": "integer", "minimum": 0}}}}`
)
