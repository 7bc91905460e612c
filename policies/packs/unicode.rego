# METADATA
# scope: package
# title: Invisible or reordering character
# description: >-
#   A string value or an object key holds a character that is not seen or that turns
#   the order of the text around, at a place where no writing system needs it. Such
#   characters hide instructions from people and split words that other filters look
#   for. The reason names code points, never the characters themselves.
# custom:
#   severity: high
#   halts: false
#   code: -32602
package sallyport.rules.unicode

import rego.v2

selection := {
	"attach": data.sallyport.packs.unicode.attach,
	"keys": true,
	"code_points": [[_number(range[0]), _number(range[1])] | some range in _watched],
} if {
	data.sallyport.packs.unicode.on == true
}

deny contains {"path": found.path, "reason": reason} if {
	some found in input.facts.selected.unicode.strings
	listed := _left_over(found.text)
	count(listed) > 0
	reason := sprintf("%s has characters that are not seen or that reorder text (%s); send it without them", [
		object.get(_places, found["in"], "the string"),
		concat(", ", array.slice(listed, 0, _shown)),
	])
}

deny contains {"path": "", "reason": reason} if {
	unlooked := input.facts.selected.unicode.total - count(input.facts.selected.unicode.strings)
	unlooked > 0
	reason := sprintf("%d more strings have characters that are not seen or that reorder text; nobody looked at them", [unlooked])
}

deny contains {"path": "", "reason": "the pack unicode cannot judge: packs/unicode/allowed is not a list of code points such as \"U+00AD\""} if {
	input.facts.selected.unicode.total > 0
	not _allowed_is_sound
}

_allowed_is_sound if {
	is_array(data.sallyport.packs.unicode.allowed)
	every entry in data.sallyport.packs.unicode.allowed {
		_is_code_point(entry)
	}
}

_is_code_point(entry) if {
	is_string(entry)
	regex.match(`^U\+[0-9A-F]{4,6}$`, entry)
}

# What is left of the watched characters where the uses that are in order are taken out,
# each named once, in the order of the text.
_left_over(text) := [_name(character) |
	some i, character in _first(text)
	not character in array.slice(_first(text), 0, i)
]

_first(text) := regex.find_n(_watched_pattern, regex.replace(text, _in_order_pattern, "."), _looked_at)

_looked_at := 32

_shown := 8

_places := {"key": "the key", "value": "the string"}

# From and to, both included. Whatever is not in here is not looked at.
_watched := [
	["00AD", "00AD"], # soft hyphen
	["034F", "034F"], # combining grapheme joiner
	["061C", "061C"], # Arabic letter mark (Bidi_Control)
	["115F", "1160"], # Hangul fillers for old syllables
	["17B4", "17B5"], # Khmer inherent vowels, never to be written
	["180B", "180F"], # Mongolian variation selectors and vowel separator
	["200B", "200D"], # zero width space, non-joiner, joiner
	["200E", "200F"], # left-to-right and right-to-left mark (Bidi_Control)
	["2028", "2029"], # line and paragraph separator
	["202A", "202E"], # embeddings and overrides (Bidi_Control)
	["2060", "2064"], # word joiner, invisible operators
	["2065", "2065"], # ignorable, unassigned
	["2066", "2069"], # isolates (Bidi_Control)
	["206A", "206F"], # deprecated format characters
	["3164", "3164"], # Hangul filler
	["FDD0", "FDEF"], # noncharacters
	["FE00", "FE0F"], # variation selectors 1 to 16
	["FEFF", "FEFF"], # zero width no-break space, also as byte order mark
	["FFA0", "FFA0"], # halfwidth Hangul filler
	["FFF0", "FFFB"], # ignorable, unassigned; interlinear annotation
	["FFFE", "FFFF"], # noncharacters, and so at the end of each plane
	["1BCA0", "1BCA3"], # shorthand format controls
	["1D173", "1D17A"], # musical format controls
	["1FFFE", "1FFFF"],
	["2FFFE", "2FFFF"],
	["3FFFE", "3FFFF"],
	["4FFFE", "4FFFF"],
	["5FFFE", "5FFFF"],
	["6FFFE", "6FFFF"],
	["7FFFE", "7FFFF"],
	["8FFFE", "8FFFF"],
	["9FFFE", "9FFFF"],
	["AFFFE", "AFFFF"],
	["BFFFE", "BFFFF"],
	["CFFFE", "CFFFF"],
	["DFFFE", "DFFFF"],
	["E0000", "E0FFF"], # tag characters, variation selectors 17 to 256, ignorable
	["EFFFE", "EFFFF"],
	["FFFFE", "FFFFF"],
	["10FFFE", "10FFFF"],
]

_watched_pattern := sprintf("[%s]", [concat("", [sprintf(`\x{%s}-\x{%s}`, range) | some range in _watched])])

# Every use that is in order, with the characters around that make it so. A use takes its
# neighbours along, so each alternative has to be content with what is left.
_in_order_pattern := concat("|", array.concat(
	[
		`^\x{FEFF}`, # a byte order mark at the start of a file's text
		_flag,
		_emoji,
		sprintf(`%s[\x{200C}\x{200D}]|[\x{200C}\x{200D}]%s`, [_joining, _joining]),
		sprintf(`%s\x{200B}|\x{200B}%s`, [_without_spaces, _without_spaces]),
		sprintf(`%s%s[\x{061C}\x{200E}\x{200F}]{1,2}`, [_right_to_left, _beside]),
		sprintf(`[\x{061C}\x{200E}\x{200F}]{1,2}%s%s`, [_beside, _right_to_left]),
		`[\x{1800}-\x{180A}\x{1810}-\x{18AF}\x{11660}-\x{1167F}][\x{180B}-\x{180F}]`,
		`\p{Han}[\x{FE00}-\x{FE02}\x{E0100}-\x{E01EF}]`, # ideographic variants, such as in names
		`[\x{1000}-\x{109F}\x{AA60}-\x{AA7F}\x{2200}-\x{22FF}\x{2A00}-\x{2AFF}\x{3001}\x{3002}\x{FF01}-\x{FF1F}]\x{FE00}|[\x{3001}\x{3002}\x{FF01}-\x{FF1F}]\x{FE01}`,
		`[\p{Hebrew}\x{0591}-\x{05C7}]\x{034F}`,
		`[\x{1100}-\x{115E}\x{A960}-\x{A97C}]\x{1160}|\x{115F}[\x{1161}-\x{11A7}]`, # old Hangul
		`[\x{1BC00}-\x{1BC9F}][\x{1BCA0}-\x{1BCA3}]`,
	],
	[sprintf(`\x{%s}`, [substring(entry, 2, -1)]) |
		some entry in data.sallyport.packs.unicode.allowed
		_is_code_point(entry)
	],
))

# The flags of England, Scotland and Wales: the only sequences of tag characters that
# Unicode recommends (emoji-sequences.txt, RGI_Emoji_Tag_Sequence). They spell gbeng,
# gbsct and gbwls.
_flag := `\x{1F3F4}\x{E0067}\x{E0062}(?:\x{E0065}\x{E006E}\x{E0067}|\x{E0073}\x{E0063}\x{E0074}|\x{E0077}\x{E006C}\x{E0073})\x{E007F}`

# An emoji or symbol with its presentation, and those that are joined to it; or a keycap.
_emoji := sprintf(`%s(?:\x{200D}%s)*|[0-9#*]\x{FE0F}\x{20E3}`, [_pictograph, _pictograph])

_pictograph := sprintf(`%s(?:[\x{FE0E}\x{FE0F}]?[\x{1F3FB}-\x{1F3FF}]\x{FE0F}?|[\x{FE0E}\x{FE0F}])?`, [_symbol])

_symbol := `[\p{So}\x{203C}\x{2049}\x{2139}\x{2190}-\x{21FF}\x{25A0}-\x{25FF}\x{2900}-\x{297F}\x{2B00}-\x{2BFF}\x{3030}\x{1F000}-\x{1FAFF}\x{1FC00}-\x{1FFFD}]`

# Scripts whose letters join, so that a joiner or non-joiner next to one of them changes
# how it is read (Unicode, chapters 9, 12 to 14 and 23.2). Some are given as
# ranges: Arabic, Khmer and Mongolian, since watched characters belong to these scripts, and
# those with a name of two words, which not every version of RE2 knows. The last ranges are
# marks that are used with Arabic and Indic letters and belong to no script.
_joining := `[\x{0600}-\x{061B}\x{061D}-\x{06FF}\x{0750}-\x{077F}\x{0870}-\x{08FF}\x{FB50}-\x{FDCF}\x{FDF0}-\x{FDFF}\x{FE70}-\x{FEFC}\x{1EE00}-\x{1EEFF}\p{Syriac}\p{Mandaic}\p{Nko}\x{1800}-\x{180A}\x{1810}-\x{18AF}\x{11660}-\x{1167F}\x{A840}-\x{A877}\p{Adlam}\x{10D00}-\x{10D3F}\p{Manichaean}\x{10B80}-\x{10BAF}\p{Sogdian}\p{Devanagari}\p{Bengali}\p{Gurmukhi}\p{Gujarati}\p{Oriya}\p{Tamil}\p{Telugu}\p{Kannada}\p{Malayalam}\p{Sinhala}\x{1780}-\x{17B3}\x{17B6}-\x{17FF}\x{19E0}-\x{19FF}\p{Myanmar}\p{Tibetan}\p{Balinese}\p{Javanese}\p{Sundanese}\p{Newa}\p{Tirhuta}\p{Grantha}\p{Chakma}\x{ABC0}-\x{ABFF}\x{AAE0}-\x{AAF6}\p{Brahmi}\p{Kaithi}\p{Sharada}\p{Khojki}\p{Khudawadi}\p{Modi}\p{Takri}\p{Limbu}\p{Lepcha}\p{Saurashtra}\x{A800}-\x{A82C}\x{0640}\x{064B}-\x{065F}\x{0670}\x{0964}\x{0965}\x{1CD0}-\x{1CFA}]`

# Scripts that set words without spaces and mark where a line may break.
_without_spaces := `[\p{Thai}\p{Lao}\x{1780}-\x{17B3}\x{17B6}-\x{17FF}\x{19E0}-\x{19FF}\p{Myanmar}\p{Tibetan}\p{Javanese}\p{Balinese}\x{1A20}-\x{1AAD}\x{1980}-\x{19DF}\x{1950}-\x{1974}\x{AA80}-\x{AADF}]`

# A direction mark belongs next to a letter or mark of a script that is written from right
# to left, or to the punctuation, digits and spaces beside one.
_right_to_left := `[\p{Hebrew}\x{0600}-\x{061B}\x{061D}-\x{06FF}\x{0750}-\x{077F}\x{0870}-\x{08FF}\x{FB50}-\x{FDCF}\x{FDF0}-\x{FDFF}\x{FE70}-\x{FEFC}\x{1EE00}-\x{1EEFF}\p{Syriac}\p{Thaana}\p{Nko}\p{Samaritan}\p{Mandaic}\p{Adlam}\x{10D00}-\x{10D3F}\x{064B}-\x{065F}\x{0591}-\x{05C7}\x{060C}\x{061B}\x{061F}]`

_beside := `[\p{P}\p{Zs}\p{Nd}\p{Sc}]{0,8}`

# U+202E for the character itself: its UTF-8 form as hexadecimal digits is taken apart.
_name(character) := sprintf("U+%04X", [_code_point(_bytes(character))])

_bytes(character) := [_number(substring(digits, at, 2)) |
	digits := upper(hex.encode(character))
	some at in numbers.range_step(0, count(digits) - 2, 2)
]

_code_point(bytes) := bytes[0] if count(bytes) == 1

_code_point(bytes) := ((bytes[0] - 192) * 64) + (bytes[1] - 128) if count(bytes) == 2

_code_point(bytes) := (((bytes[0] - 224) * 4096) + ((bytes[1] - 128) * 64)) + (bytes[2] - 128) if count(bytes) == 3

_code_point(bytes) := ((((bytes[0] - 240) * 262144) + ((bytes[1] - 128) * 4096)) + ((bytes[2] - 128) * 64)) + (bytes[3] - 128) if {
	count(bytes) == 4
}

# The number of hexadecimal digits.
_number(digits) := sum([value |
	some i, digit in split(digits, "")
	value := indexof("0123456789ABCDEF", digit) * _powers[(count(digits) - 1) - i]
])

_powers := [1, 16, 256, 4096, 65536, 1048576]
