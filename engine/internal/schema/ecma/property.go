package ecma

import "unicode"

//go:generate sh -c "node emoji.mjs && gofmt -w emoji.go"

// binary are the properties of ECMA-262 (table 69) that Go has tables for. Go knows
// others too, such as Hyphen, which ECMA-262 does not.
var binary = map[string]*unicode.RangeTable{
	"ASCII_Hex_Digit": unicode.ASCII_Hex_Digit, "AHex": unicode.ASCII_Hex_Digit,
	"Bidi_Control": unicode.Bidi_Control, "Bidi_C": unicode.Bidi_Control,
	"Dash":       unicode.Dash,
	"Deprecated": unicode.Deprecated, "Dep": unicode.Deprecated,
	"Diacritic": unicode.Diacritic, "Dia": unicode.Diacritic,
	"Extender": unicode.Extender, "Ext": unicode.Extender,
	"Hex_Digit": unicode.Hex_Digit, "Hex": unicode.Hex_Digit,
	"IDS_Binary_Operator": unicode.IDS_Binary_Operator, "IDSB": unicode.IDS_Binary_Operator,
	"IDS_Trinary_Operator": unicode.IDS_Trinary_Operator, "IDST": unicode.IDS_Trinary_Operator,
	"Ideographic": unicode.Ideographic, "Ideo": unicode.Ideographic,
	"Join_Control": unicode.Join_Control, "Join_C": unicode.Join_Control,
	"Logical_Order_Exception": unicode.Logical_Order_Exception, "LOE": unicode.Logical_Order_Exception,
	"Noncharacter_Code_Point": unicode.Noncharacter_Code_Point, "NChar": unicode.Noncharacter_Code_Point,
	"Pattern_Syntax": unicode.Pattern_Syntax, "Pat_Syn": unicode.Pattern_Syntax,
	"Pattern_White_Space": unicode.Pattern_White_Space, "Pat_WS": unicode.Pattern_White_Space,
	"Quotation_Mark": unicode.Quotation_Mark, "QMark": unicode.Quotation_Mark,
	"Radical":            unicode.Radical,
	"Regional_Indicator": unicode.Regional_Indicator, "RI": unicode.Regional_Indicator,
	"Sentence_Terminal": unicode.Sentence_Terminal, "STerm": unicode.Sentence_Terminal,
	"Soft_Dotted": unicode.Soft_Dotted, "SD": unicode.Soft_Dotted,
	"Terminal_Punctuation": unicode.Terminal_Punctuation, "Term": unicode.Terminal_Punctuation,
	"Unified_Ideograph": unicode.Unified_Ideograph, "UIdeo": unicode.Unified_Ideograph,
	"Variation_Selector": unicode.Variation_Selector, "VS": unicode.Variation_Selector,
	"White_Space": unicode.White_Space, "space": unicode.White_Space,
}

// missing are properties of ECMA-262 that Go has no tables for.
var missing = map[string]bool{
	"Bidi_Mirrored": true, "Bidi_M": true, "Case_Ignorable": true, "CI": true, "Cased": true,
	"Changes_When_Casefolded": true, "CWCF": true, "Changes_When_Casemapped": true, "CWCM": true, "Changes_When_Lowercased": true, "CWL": true,
	"Changes_When_NFKC_Casefolded": true, "CWKCF": true, "Changes_When_Titlecased": true, "CWT": true, "Changes_When_Uppercased": true, "CWU": true,
	"Default_Ignorable_Code_Point": true, "DI": true,
	"Grapheme_Base": true, "Gr_Base": true, "Grapheme_Extend": true, "Gr_Ext": true,
	"ID_Continue": true, "IDC": true, "ID_Start": true, "IDS": true, "Math": true, "XID_Continue": true, "XIDC": true, "XID_Start": true, "XIDS": true,
}

// newerScripts are names of Unicode 17 that Go 1.26, which has Unicode 15, has no table for.
var newerScripts = map[string]bool{
	"Berf": true, "Beria_Erfe": true, "Gara": true, "Garay": true, "Gukh": true, "Gurung_Khema": true,
	"Hrkt": true, "Katakana_Or_Hiragana": true, "Krai": true, "Kirat_Rai": true, "Onao": true, "Ol_Onal": true,
	"Sidt": true, "Sidetic": true, "Sunu": true, "Sunuwar": true, "Tayo": true, "Tai_Yo": true,
	"Todr": true, "Todhri": true, "Tols": true, "Tolong_Siki": true, "Tutg": true, "Tulu_Tigalari": true,
	"Zzzz": true, "Unknown": true,
}

// scriptCodes are the short names of scripts, by PropertyValueAliases.txt, where they
// differ from the long ones.
var scriptCodes = map[string]string{
	"Adlm": "Adlam", "Aghb": "Caucasian_Albanian", "Arab": "Arabic", "Armi": "Imperial_Aramaic", "Armn": "Armenian", "Avst": "Avestan",
	"Bali": "Balinese", "Bamu": "Bamum", "Bass": "Bassa_Vah", "Batk": "Batak", "Beng": "Bengali", "Bhks": "Bhaiksuki", "Bopo": "Bopomofo",
	"Brah": "Brahmi", "Brai": "Braille", "Bugi": "Buginese", "Buhd": "Buhid", "Cakm": "Chakma", "Cans": "Canadian_Aboriginal",
	"Cari": "Carian", "Cher": "Cherokee", "Chrs": "Chorasmian", "Copt": "Coptic", "Cpmn": "Cypro_Minoan", "Cprt": "Cypriot",
	"Cyrl": "Cyrillic", "Deva": "Devanagari", "Diak": "Dives_Akuru", "Dogr": "Dogra", "Dsrt": "Deseret", "Dupl": "Duployan",
	"Egyp": "Egyptian_Hieroglyphs", "Elba": "Elbasan", "Elym": "Elymaic", "Ethi": "Ethiopic", "Geor": "Georgian", "Glag": "Glagolitic",
	"Gong": "Gunjala_Gondi", "Gonm": "Masaram_Gondi", "Goth": "Gothic", "Gran": "Grantha", "Grek": "Greek", "Gujr": "Gujarati",
	"Guru": "Gurmukhi", "Hang": "Hangul", "Hani": "Han", "Hano": "Hanunoo", "Hatr": "Hatran", "Hebr": "Hebrew", "Hira": "Hiragana",
	"Hluw": "Anatolian_Hieroglyphs", "Hmng": "Pahawh_Hmong", "Hmnp": "Nyiakeng_Puachue_Hmong", "Hung": "Old_Hungarian",
	"Ital": "Old_Italic", "Java": "Javanese", "Kali": "Kayah_Li", "Kana": "Katakana", "Khar": "Kharoshthi", "Khmr": "Khmer",
	"Khoj": "Khojki", "Kits": "Khitan_Small_Script", "Knda": "Kannada", "Kthi": "Kaithi", "Lana": "Tai_Tham", "Laoo": "Lao",
	"Latn": "Latin", "Lepc": "Lepcha", "Limb": "Limbu", "Lina": "Linear_A", "Linb": "Linear_B", "Lyci": "Lycian", "Lydi": "Lydian",
	"Mahj": "Mahajani", "Maka": "Makasar", "Mand": "Mandaic", "Mani": "Manichaean", "Marc": "Marchen", "Medf": "Medefaidrin",
	"Mend": "Mende_Kikakui", "Merc": "Meroitic_Cursive", "Mero": "Meroitic_Hieroglyphs", "Mlym": "Malayalam", "Mong": "Mongolian",
	"Mroo": "Mro", "Mtei": "Meetei_Mayek", "Mult": "Multani", "Mymr": "Myanmar", "Nagm": "Nag_Mundari", "Nand": "Nandinagari",
	"Narb": "Old_North_Arabian", "Nbat": "Nabataean", "Nkoo": "Nko", "Nshu": "Nushu", "Ogam": "Ogham", "Olck": "Ol_Chiki",
	"Orkh": "Old_Turkic", "Orya": "Oriya", "Osge": "Osage", "Osma": "Osmanya", "Ougr": "Old_Uyghur", "Palm": "Palmyrene",
	"Pauc": "Pau_Cin_Hau", "Perm": "Old_Permic", "Phag": "Phags_Pa", "Phli": "Inscriptional_Pahlavi", "Phlp": "Psalter_Pahlavi",
	"Phnx": "Phoenician", "Plrd": "Miao", "Prti": "Inscriptional_Parthian", "Qaac": "Coptic", "Qaai": "Inherited", "Rjng": "Rejang",
	"Rohg": "Hanifi_Rohingya", "Runr": "Runic", "Samr": "Samaritan", "Sarb": "Old_South_Arabian", "Saur": "Saurashtra",
	"Sgnw": "SignWriting", "Shaw": "Shavian", "Shrd": "Sharada", "Sidd": "Siddham", "Sind": "Khudawadi", "Sinh": "Sinhala",
	"Sogd": "Sogdian", "Sogo": "Old_Sogdian", "Sora": "Sora_Sompeng", "Soyo": "Soyombo", "Sund": "Sundanese", "Sylo": "Syloti_Nagri",
	"Syrc": "Syriac", "Tagb": "Tagbanwa", "Takr": "Takri", "Tale": "Tai_Le", "Talu": "New_Tai_Lue", "Taml": "Tamil", "Tang": "Tangut",
	"Tavt": "Tai_Viet", "Telu": "Telugu", "Tfng": "Tifinagh", "Tglg": "Tagalog", "Thaa": "Thaana", "Tibt": "Tibetan", "Tirh": "Tirhuta",
	"Tnsa": "Tangsa", "Ugar": "Ugaritic", "Vaii": "Vai", "Vith": "Vithkuqi", "Wara": "Warang_Citi", "Wcho": "Wancho",
	"Xpeo": "Old_Persian", "Xsux": "Cuneiform", "Yezi": "Yezidi", "Yiii": "Yi", "Zanb": "Zanabazar_Square", "Zinh": "Inherited",
	"Zyyy": "Common",
}
