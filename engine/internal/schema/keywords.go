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
	since, until draft // until: last draft that knows it; 0 for all
	place        place
	annotation   bool // says nothing about what is valid
	length       bool // its value is a count
}

var keywords = map[string]keyword{
	"$schema":     {since: draft4, annotation: true},
	"id":          {since: draft4, until: draft4, annotation: true},
	"$id":         {since: draft6, annotation: true},
	"$ref":        {since: draft4},
	"$comment":    {since: draft4, annotation: true}, // draft 7, and harmless before
	"title":       {since: draft4, annotation: true},
	"description": {since: draft4, annotation: true},
	"default":     {since: draft4, annotation: true},
	"examples":    {since: draft4, annotation: true},
	"readOnly":    {since: draft4, annotation: true},
	"writeOnly":   {since: draft4, annotation: true},
	"deprecated":  {since: draft4, annotation: true},

	"type": {since: draft4}, "enum": {since: draft4}, "const": {since: draft6}, "format": {since: draft4},
	"multipleOf": {since: draft4}, "maximum": {since: draft4}, "minimum": {since: draft4},
	"exclusiveMaximum": {since: draft4}, "exclusiveMinimum": {since: draft4},
	"maxLength": {since: draft4, length: true}, "minLength": {since: draft4, length: true}, "pattern": {since: draft4},
	"maxItems": {since: draft4, length: true}, "minItems": {since: draft4, length: true}, "uniqueItems": {since: draft4},
	"maxProperties": {since: draft4, length: true}, "minProperties": {since: draft4, length: true}, "required": {since: draft4},
	"maxContains": {since: draft2019, length: true}, "minContains": {since: draft2019, length: true},
	"dependentRequired": {since: draft2019},
	"contentEncoding":   {since: draft4, annotation: true}, "contentMediaType": {since: draft4, annotation: true},

	"items":            {since: draft4, place: schemaOrList},
	"additionalItems":  {since: draft4, until: draft2019, place: oneSchema},
	"prefixItems":      {since: draft2020, place: schemaList},
	"contains":         {since: draft6, place: oneSchema},
	"unevaluatedItems": {since: draft2019, place: oneSchema},

	"properties":            {since: draft4, place: schemaMap},
	"patternProperties":     {since: draft4, place: schemaMap},
	"additionalProperties":  {since: draft4, place: oneSchema},
	"propertyNames":         {since: draft6, place: oneSchema},
	"unevaluatedProperties": {since: draft2019, place: oneSchema},
	"dependencies":          {since: draft4, until: draft7, place: dependencies},
	"dependentSchemas":      {since: draft2019, place: schemaMap},

	"allOf": {since: draft4, place: schemaList}, "anyOf": {since: draft4, place: schemaList},
	"oneOf": {since: draft4, place: schemaList}, "not": {since: draft4, place: oneSchema},
	"if": {since: draft7, place: oneSchema}, "then": {since: draft7, place: oneSchema}, "else": {since: draft7, place: oneSchema},
	"contentSchema": {since: draft4, place: oneSchema, annotation: true},

	// Only a place for others to refer to, so harmless in any draft.
	"definitions": {since: draft4, place: definitions, annotation: true},
	"$defs":       {since: draft4, place: definitions, annotation: true},

	"$anchor":          {since: draft2019},
	"$recursiveRef":    {since: draft2019, until: draft2019},
	"$recursiveAnchor": {since: draft2019, until: draft2019},
	"$vocabulary":      {since: draft2019, annotation: true},
	"$dynamicRef":      {since: draft2020},
	"$dynamicAnchor":   {since: draft2020},
}

// foreign are words of other specifications that have no effect here. Not one of
// them is a slip of the pen.
var foreign = map[string]bool{
	"discriminator": true, "example": true, "externalDocs": true, "xml": true,
}

// checkedFormats are those that the validator knows. It ignores all others, which
// the specification allows.
var checkedFormats = map[string]bool{
	"date": true, "date-time": true, "duration": true, "email": true, "hostname": true, "ipv4": true, "ipv6": true,
	"iri": true, "iri-reference": true, "json-pointer": true, "period": true, "regex": true, "relative-json-pointer": true,
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
