package schema

// place says what a keyword's value is, where that matters to a walk.
type place int

const (
	noSchema     place = iota
	oneSchema          // a subschema
	schemaList         // an array of subschemas
	schemaMap          // an object of subschemas
	schemaOrList       // items before 2020-12
	dependencies       // an object of subschemas and lists of names
	definitions        // an object of subschemas that need a reference to matter
)

// keyword describes one word of the specifications.
type keyword struct {
	since, until Dialect // until: last draft that knows it; 0 for all
	place        place
	annotation   bool // says nothing about what is valid
	length       bool // its value is a count
}

func (k keyword) knownIn(d Dialect) bool { return d >= k.since && (k.until == 0 || d <= k.until) }

var keywords = map[string]keyword{
	"$schema":     {since: Draft4, annotation: true},
	"id":          {since: Draft4, until: Draft4, annotation: true},
	"$id":         {since: Draft6, annotation: true},
	"$ref":        {since: Draft4},
	"$comment":    {since: Draft4, annotation: true}, // draft 7, and harmless before
	"title":       {since: Draft4, annotation: true},
	"description": {since: Draft4, annotation: true},
	"default":     {since: Draft4, annotation: true},
	"examples":    {since: Draft4, annotation: true},
	"readOnly":    {since: Draft4, annotation: true},
	"writeOnly":   {since: Draft4, annotation: true},
	"deprecated":  {since: Draft4, annotation: true},

	"type": {since: Draft4}, "enum": {since: Draft4}, "const": {since: Draft6}, "format": {since: Draft4},
	"multipleOf": {since: Draft4}, "maximum": {since: Draft4}, "minimum": {since: Draft4},
	"exclusiveMaximum": {since: Draft4}, "exclusiveMinimum": {since: Draft4},
	"maxLength": {since: Draft4, length: true}, "minLength": {since: Draft4, length: true}, "pattern": {since: Draft4},
	"maxItems": {since: Draft4, length: true}, "minItems": {since: Draft4, length: true}, "uniqueItems": {since: Draft4},
	"maxProperties": {since: Draft4, length: true}, "minProperties": {since: Draft4, length: true}, "required": {since: Draft4},
	"maxContains": {since: Draft2019, length: true}, "minContains": {since: Draft2019, length: true},
	"dependentRequired": {since: Draft2019},
	"contentEncoding":   {since: Draft4, annotation: true}, "contentMediaType": {since: Draft4, annotation: true},

	"items":            {since: Draft4, place: schemaOrList},
	"additionalItems":  {since: Draft4, until: Draft2019, place: oneSchema},
	"prefixItems":      {since: Draft2020, place: schemaList},
	"contains":         {since: Draft6, place: oneSchema},
	"unevaluatedItems": {since: Draft2019, place: oneSchema},

	"properties":            {since: Draft4, place: schemaMap},
	"patternProperties":     {since: Draft4, place: schemaMap},
	"additionalProperties":  {since: Draft4, place: oneSchema},
	"propertyNames":         {since: Draft6, place: oneSchema},
	"unevaluatedProperties": {since: Draft2019, place: oneSchema},
	"dependencies":          {since: Draft4, until: Draft7, place: dependencies},
	"dependentSchemas":      {since: Draft2019, place: schemaMap},

	"allOf": {since: Draft4, place: schemaList}, "anyOf": {since: Draft4, place: schemaList},
	"oneOf": {since: Draft4, place: schemaList}, "not": {since: Draft4, place: oneSchema},
	"if": {since: Draft7, place: oneSchema}, "then": {since: Draft7, place: oneSchema}, "else": {since: Draft7, place: oneSchema},
	"contentSchema": {since: Draft4, place: oneSchema, annotation: true},

	// Only a place for others to refer to, so harmless in any draft.
	"definitions": {since: Draft4, place: definitions, annotation: true},
	"$defs":       {since: Draft4, place: definitions, annotation: true},

	"$anchor":          {since: Draft2019},
	"$recursiveRef":    {since: Draft2019, until: Draft2019},
	"$recursiveAnchor": {since: Draft2019, until: Draft2019},
	"$vocabulary":      {since: Draft2019, annotation: true},
	"$dynamicRef":      {since: Draft2020},
	"$dynamicAnchor":   {since: Draft2020},
}

// foreign are words of other specifications that have no effect here. Not one of
// them is a slip of the pen.
var foreign = map[string]bool{
	"discriminator": true, "example": true, "externalDocs": true, "xml": true,
}

// disused are words of draft 3, and what to write instead.
var disused = map[string]string{
	"disallow":    "use not",
	"divisibleBy": "use multipleOf",
	"extends":     "use allOf",
}

// checkedFormats are those that the validator knows. It ignores all others, which
// the specification allows.
var checkedFormats = map[string]bool{
	"date": true, "date-time": true, "duration": true, "email": true, "hostname": true, "ipv4": true, "ipv6": true,
	"idn-hostname": true, "iri": true, "iri-reference": true, "json-pointer": true, "period": true, "regex": true, "relative-json-pointer": true,
	"semver": true, "time": true, "uri": true, "uri-reference": true, "uri-template": true, "uuid": true,
}

// successors say what to write instead of a word that a later draft dropped.
var successors = map[string]string{
	"id":               "use $id",
	"dependencies":     "use dependentRequired or dependentSchemas",
	"additionalItems":  "use prefixItems with items",
	"$recursiveRef":    "use $dynamicRef with $dynamicAnchor",
	"$recursiveAnchor": "use $dynamicRef with $dynamicAnchor",
}

// refers are the words whose value is a reference.
var refers = map[string]bool{"$ref": true, "$recursiveRef": true, "$dynamicRef": true}

// timeoutKeyword is this project's own, at the root only.
const timeoutKeyword = "timeoutSeconds"
