# METADATA
# scope: package
# title: Key material in an argument
# description: >-
#   A string value or an object key holds a token, a private key or a password in a
#   URL, told by one of the formats of data.sallyport.packs.secrets. Where a format
#   has a checksum, it has to be right. The reason names the format, never the
#   text. What is not in the clear, or cut in pieces, is not seen.
# custom:
#   severity: critical
#   halts: false
#   code: -32602
package sallyport.rules.secrets

import rego.v2

# Only strings with a text of one of the formats are handed over.
selection := {
	"attach": data.sallyport.packs.secrets.attach,
	"keys": true,
	"contains": _texts,
} if {
	data.sallyport.packs.secrets.on == true
}

_texts := sort({text | some format in _formats; some text in format.contains}) if _sound

else := [] # everything, to be refused

deny contains {"path": _place(found), "reason": reason} if {
	_sound
	some found in input.facts.selected.secrets.strings
	reason := _reason(found.text)
}

# more strings than were handed over: refuse, nobody looked at the rest
deny contains {"path": "", "reason": reason} if {
	selected := input.facts.selected.secrets
	selected.total > count(selected.strings)
	reason := "more strings look like key material than are looked at: send fewer in one call"
}

deny contains {"path": "", "reason": reason} if {
	count(input.facts.selected.secrets.strings) > 0
	not _sound
	reason := concat("", [
		"the pack secrets cannot judge: in packs/secrets, off, own_formats, placeholders, formats ",
		"or max_candidates is missing or has the wrong type",
	])
}

# The path of a key is that of its object, and no path is told that itself holds key
# material: paths are logged and answered.
_place(found) := path if {
	path := _object_or_value(found)
	not _reason(strings.replace_n({"/": " ", "~1": "/", "~0": "~"}, path))
} else := ""

_object_or_value(found) := regex.replace(found.path, "/[^/]*$", "") if {
	found["in"] == "key"
} else := found.path

# The first format that finds something gives the reason.
_reason(text) := reasons[0] if {
	reasons := [reason |
		some format in _near
		most := object.get(format, "most", data.sallyport.packs.secrets.max_candidates)
		reason := _finding(format, text, regex.find_all_string_submatch_n(format.pattern, text, most + 1), most)
	]
}

_finding(format, text, candidates, most) := reason if {
	some candidate in candidates
	_is_secret(format, text, candidate)
	reason := sprintf("holds what looks like key material: %s (%s). %s", [
		object.get(format, "title", format.id),
		format.id,
		"Do not send it; name the variable or the vault entry that has it, and let the tool read it there",
	])
} else := reason if {
	count(candidates) > most
	reason := sprintf("has more than %d texts that look like key material (%s), more than are looked at: send fewer", [most, format.id])
}

# Formats of which a text is anywhere in the call. One look at all strings together: most
# formats are not asked about any of them.
_near := [format |
	some i in near
	format := _formats[i]
	not format.id in data.sallyport.packs.secrets.off
] if {
	all := lower(concat("\n", [found.text | some found in input.facts.selected.secrets.strings]))
	near := {i |
		some i, format in _formats
		some text in format.contains
		contains(all, lower(text))
	}
}

_formats := array.concat(data.sallyport.packs.secrets.own_formats, data.sallyport.packs.secrets.formats)

# ---- is a candidate a secret ----

# A candidate is the text that the pattern matched, and its group. The secret part is the
# group where the pattern has one, and of a long one the beginning is enough.
_is_secret(format, text, candidate) if {
	secret := substring([part | some part in array.reverse(candidate); part != ""][0], 0, 256)
	not _placeholder(secret)
	every pattern in object.get(format, "needs", []) {
		regex.match(pattern, secret)
	}
	not _passes(object.get(format, "passes", []), candidate[0])
	_checked(object.get(format, "check", "none"), candidate[0])
	_stands_alone(object.get(format, "alone", false), text, candidate[0])
}

# Half of it is one and the same character: ghp_xxxx...
_placeholder(secret) if {
	last := substring(strings.reverse(secret), 0, 1)
	2 * count(replace(secret, last, "")) <= count(secret)
}

_placeholder(secret) if {
	some pattern in data.sallyport.packs.secrets.placeholders
	regex.match(pattern, secret)
}

_passes(patterns, matched) if {
	some pattern in patterns
	regex.match(pattern, matched)
}

# With "alone": it occurs somewhere without a letter or digit in front. A pattern that
# starts with \b would say the same, but cannot skip to its first letters and takes
# milliseconds for a long text.
_stands_alone(false, _, _)

_stands_alone(true, text, matched) if {
	before := split(text, matched)
	some part in array.slice(before, 0, count(before) - 1)
	not strings.any_suffix_match(part, _alphanumeric)
}

_alphanumeric := split(_base62, "")

# ---- checks ----

_checked("none", _)

# GitHub and npm: the last six characters are the CRC-32 of what stands between prefix and
# them, in base 62. https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/
_checked("github", token) if {
	body := substring(token, 4, count(token) - 10)
	_number(_base62, substring(token, count(token) - 6, 6)) == _crc32(body)
}

# Fine-grained tokens: eight characters before the last eight are the first 40 bits of the
# SHA-256 of all before them, in base 32.
_checked("github_fine_grained", token) if {
	body := substring(token, 0, count(token) - 16)
	sum := _number(_base32, substring(token, count(token) - 16, 8))
	sum == _number(_base16, substring(crypto.sha256(body), 0, 10))
}

# A JSON Web Token: the header is JSON and names an algorithm. One without a signature
# (RFC 7519, section 6) proves nothing to nobody.
_checked("jwt", token) if {
	header := split(token, ".")[0]
	regex.match(`^(?:[\w-]{4})*(?:[\w-]{2,3})?$`, header) # else decoding is an error
	decoded := base64url.decode(header)
	json.is_valid(decoded)
	algorithm := json.unmarshal(decoded).alg
	is_string(algorithm)
	lower(algorithm) != "none"
}

_base16 := "0123456789abcdef"

_base32 := "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

_base62 := "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

# The number that the digits write in the base that has this alphabet.
_number(alphabet, digits) := sum([value |
	some i, digit in split(strings.reverse(digits), "")
	value := indexof(alphabet, digit) * _power(count(alphabet), i)
])

_power(base, exponent) := product([base | some _ in numbers.range(1, exponent)]) if exponent > 0

_power(_, 0) := 1

# CRC-32 as in ISO 3309 and zlib. Rego has no loop that carries a value, so ten bytes are
# written out; the tokens have thirty or seventy.
_crc32(text) := bits.xor(_ten(_ten(_ten(4294967295, codes, 0), codes, 10), codes, 20), 4294967295) if {
	codes := _codes(text)
	count(codes) == 30
}

_crc32(text) := bits.xor(_ten(_ten(_ten(sum, codes, 40), codes, 50), codes, 60), 4294967295) if {
	codes := _codes(text)
	count(codes) == 70
	sum := _ten(_ten(_ten(_ten(4294967295, codes, 0), codes, 10), codes, 20), codes, 30)
}

# The ASCII codes of letters and digits.
_codes(text) := [code |
	some character in split(text, "")
	code := 32 + indexof(_ascii, character)
]

# From U+0020 on. A space stands in for the grave accent, which a raw string cannot hold.
_ascii := ` !"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_ abcdefghijklmnopqrstuvwxyz`

_ten(crc, codes, i) := c9 if {
	t := _crc_table
	[b0, b1, b2, b3, b4, b5, b6, b7, b8, b9] := array.slice(codes, i, i + 10)
	c0 := bits.xor(bits.rsh(crc, 8), t[bits.and(bits.xor(crc, b0), 255)])
	c1 := bits.xor(bits.rsh(c0, 8), t[bits.and(bits.xor(c0, b1), 255)])
	c2 := bits.xor(bits.rsh(c1, 8), t[bits.and(bits.xor(c1, b2), 255)])
	c3 := bits.xor(bits.rsh(c2, 8), t[bits.and(bits.xor(c2, b3), 255)])
	c4 := bits.xor(bits.rsh(c3, 8), t[bits.and(bits.xor(c3, b4), 255)])
	c5 := bits.xor(bits.rsh(c4, 8), t[bits.and(bits.xor(c4, b5), 255)])
	c6 := bits.xor(bits.rsh(c5, 8), t[bits.and(bits.xor(c5, b6), 255)])
	c7 := bits.xor(bits.rsh(c6, 8), t[bits.and(bits.xor(c6, b7), 255)])
	c8 := bits.xor(bits.rsh(c7, 8), t[bits.and(bits.xor(c7, b8), 255)])
	c9 := bits.xor(bits.rsh(c8, 8), t[bits.and(bits.xor(c8, b9), 255)])
}

# What eight bits leave behind when they are shifted out, for the polynomial 0xEDB88320.
_crc_table := [
	0, 1996959894, 3993919788, 2567524794, 124634137, 1886057615, 3915621685, 2657392035,
	249268274, 2044508324, 3772115230, 2547177864, 162941995, 2125561021, 3887607047, 2428444049,
	498536548, 1789927666, 4089016648, 2227061214, 450548861, 1843258603, 4107580753, 2211677639,
	325883990, 1684777152, 4251122042, 2321926636, 335633487, 1661365465, 4195302755, 2366115317,
	997073096, 1281953886, 3579855332, 2724688242, 1006888145, 1258607687, 3524101629, 2768942443,
	901097722, 1119000684, 3686517206, 2898065728, 853044451, 1172266101, 3705015759, 2882616665,
	651767980, 1373503546, 3369554304, 3218104598, 565507253, 1454621731, 3485111705, 3099436303,
	671266974, 1594198024, 3322730930, 2970347812, 795835527, 1483230225, 3244367275, 3060149565,
	1994146192, 31158534, 2563907772, 4023717930, 1907459465, 112637215, 2680153253, 3904427059,
	2013776290, 251722036, 2517215374, 3775830040, 2137656763, 141376813, 2439277719, 3865271297,
	1802195444, 476864866, 2238001368, 4066508878, 1812370925, 453092731, 2181625025, 4111451223,
	1706088902, 314042704, 2344532202, 4240017532, 1658658271, 366619977, 2362670323, 4224994405,
	1303535960, 984961486, 2747007092, 3569037538, 1256170817, 1037604311, 2765210733, 3554079995,
	1131014506, 879679996, 2909243462, 3663771856, 1141124467, 855842277, 2852801631, 3708648649,
	1342533948, 654459306, 3188396048, 3373015174, 1466479909, 544179635, 3110523913, 3462522015,
	1591671054, 702138776, 2966460450, 3352799412, 1504918807, 783551873, 3082640443, 3233442989,
	3988292384, 2596254646, 62317068, 1957810842, 3939845945, 2647816111, 81470997, 1943803523,
	3814918930, 2489596804, 225274430, 2053790376, 3826175755, 2466906013, 167816743, 2097651377,
	4027552580, 2265490386, 503444072, 1762050814, 4150417245, 2154129355, 426522225, 1852507879,
	4275313526, 2312317920, 282753626, 1742555852, 4189708143, 2394877945, 397917763, 1622183637,
	3604390888, 2714866558, 953729732, 1340076626, 3518719985, 2797360999, 1068828381, 1219638859,
	3624741850, 2936675148, 906185462, 1090812512, 3747672003, 2825379669, 829329135, 1181335161,
	3412177804, 3160834842, 628085408, 1382605366, 3423369109, 3138078467, 570562233, 1426400815,
	3317316542, 2998733608, 733239954, 1555261956, 3268935591, 3050360625, 752459403, 1541320221,
	2607071920, 3965973030, 1969922972, 40735498, 2617837225, 3943577151, 1913087877, 83908371,
	2512341634, 3803740692, 2075208622, 213261112, 2463272603, 3855990285, 2094854071, 198958881,
	2262029012, 4057260610, 1759359992, 534414190, 2176718541, 4139329115, 1873836001, 414664567,
	2282248934, 4279200368, 1711684554, 285281116, 2405801727, 4167216745, 1634467795, 376229701,
	2685067896, 3608007406, 1308918612, 956543938, 2808555105, 3495958263, 1231636301, 1047427035,
	2932959818, 3654703836, 1088359270, 936918000, 2847714899, 3736837829, 1202900863, 817233897,
	3183342108, 3401237130, 1404277552, 615818150, 3134207493, 3453421203, 1423857449, 601450431,
	3009837614, 3294710456, 1567103746, 711928724, 3020668471, 3272380065, 1510334235, 755167117,
]

# ---- is the data what the rules above take it for ----

# All formats have texts by which they are found, and those that were found are complete. An
# error in another one is refused when it is its turn.
_sound if {
	pack := data.sallyport.packs.secrets
	_texts_only(pack.off)
	_texts_only(pack.placeholders)
	_positive(pack.max_candidates)
	is_array(pack.own_formats)
	is_array(pack.formats)
	count(_formats) > 0
	count(_formats) == count([1 | some format in _formats; is_string(format.contains[0])])
	every format in _near {
		_sound_format(format)
	}
}

_sound_format(format) if {
	object.keys(format) - _members == set()
	is_string(format.id)
	is_string(object.get(format, "title", ""))
	is_string(format.pattern)
	_positive(object.get(format, "most", 1))
	_texts_only(object.get(format, "needs", []))
	_texts_only(object.get(format, "passes", []))
	is_boolean(object.get(format, "alone", false))
	object.get(format, "check", "none") in {"none", "github", "github_fine_grained", "jwt"}
}

_members := {"id", "title", "contains", "pattern", "check", "needs", "passes", "alone", "most"}

_texts_only(list) if {
	is_array(list)
	every item in list {
		is_string(item)
	}
}

_positive(number) if {
	is_number(number)
	number >= 1
}
