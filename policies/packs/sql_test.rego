# METADATA
# scope: package
# title: Tests of the pack sql
package sallyport.rules.sql_test

import rego.v2

import data.sallyport.fixtures_test.selected
import data.sallyport.fixtures_test.selected_keys
import data.sallyport.rules.sql

_many := "holds more than 1 statement(s), as at least one database reads it; send them one by one, with a quote inside a literal as two, not as \\'"

_open := "holds a literal or a quoted name that has no end; close it, and write a quote inside a literal twice"

_comment := "holds a comment that has no end, or one inside another, which databases read differently; leave it out"

_cr := "holds a CR alone, which ends a comment in some databases only; send LF or CR LF as line breaks"

_start := "holds a comment or a quoted name that starts with %s, which databases run or decode; write it as plain SQL"

_uses := "uses %s, which reaches files, programs, the network or the clock of the server; leave it out"

_form := "send one name such as schema.table, \"My Table\" or [My Table]"

refused(path, text, reason) if {
	sql.deny == {{"path": path, "reason": reason}} with input as selected("sql", {path: text})
}

passes(path, text) if sql.deny == set() with input as selected("sql", {path: text})

test_off_as_delivered if {
	not sql.selection
	sql.selection.attach == data.sallyport.packs.sql.attach with data.sallyport.packs.sql.on as true
}

test_nothing_selected if sql.deny == set() with input as selected("other", {"/sql": "SELECT 1; SELECT 2"})

test_a_second_statement_is_refused[text] if {
	some text in ["SELECT 1; SELECT 2", "SELECT 1;;x", "SELECT 1; /* a */ x", "SELECT 'a'; x -- '", "SELECT 1;\n-- a\nx"]
	refused("/sql", text, _many)
}

test_the_end_of_a_statement_passes[text] if {
	some text in ["SELECT 1;", "SELECT 1; ", "SELECT 1;;\n", "SELECT 1; -- a; b", "SELECT 1; /* a; b */", "", ";"]
	passes("/sql", text)
}

test_more_statements_if_the_data_say_so if {
	passes("/sql", "SELECT 1; SELECT 2;") with data.sallyport.packs.sql.max_statements as 2
	refused("/sql", "SELECT 1; SELECT 2; SELECT 3", replace(_many, "1 statement", "2 statement")) with data.sallyport.packs.sql.max_statements as 2
}

# Each is one statement with a literal in it for some dialects, and two statements for others.
_ambiguous := {
	"SELECT '\\'; DROP TABLE x; --'": {"postgresql", "sqlserver", "oracle"},
	"SELECT 'a\\'; b'": {"postgresql", "sqlserver", "oracle"},
	"SELECT \"\\\"; DROP TABLE x; --\"": {"postgresql", "sqlserver", "oracle"},
	"SELECT E'\\'; DROP TABLE x; --'": {"sqlserver", "oracle"},
	"SELECT 1 # '\n; DROP TABLE x #'": {"mysql"},
	"SELECT 1 --1; DROP TABLE x": {"mysql"},
	"SELECT 1 AS [']; DROP TABLE x; --'": {"sqlserver"},
	"SELECT [a;b]": {"postgresql", "mysql", "oracle"},
	"SELECT 1 AS $$; DROP TABLE x; SELECT 1 AS $$": {"mysql", "sqlserver", "oracle"},
	"SELECT q'[']; DROP TABLE x; --]'": {"postgresql", "mysql", "sqlserver"},
	"SELECT q'{it's; x}'": {"postgresql", "mysql", "sqlserver"},
}

test_a_statement_is_read_as_each_dialect_reads_it[sprintf("%s as %s", [text, dialect])] if {
	some text, two in _ambiguous
	some dialect in ["postgresql", "mysql", "sqlserver", "oracle"]
	found := sql.deny with input as selected("sql", {"/sql": text}) with data.sallyport.packs.sql.dialects as [dialect]
	{finding.path | some finding in found} == {"/sql" | dialect in two}
}

test_one_dialect_that_reads_two_statements_is_enough[text] if {
	some text, _ in _ambiguous
	refused("/sql", text, _many)
}

test_literals_names_and_comments_hide_semicolons[text] if {
	some text in [
		"SELECT 'a; b'", "SELECT 'it''s; b'", "SELECT \"a; b\"", "SELECT `a; b`", "SELECT 1 -- a; b", "SELECT 1 /* a; b */",
		"SELECT 1 --a; b", "DO $$ a; b; $$", "CREATE FUNCTION f() AS $f$ a; $$ b; $$ $f$", "/* x */ create or replace procedure p() as $$ a; b $$",
	]
	passes("/sql", text)
}

test_a_dollar_quote_ends_with_its_own_tag if {
	refused("/sql", "DO $a$ x $b$ y $a$; DROP TABLE x -- $b$", _many)
	refused("/sql", "SELECT 1 AS a$$; DROP TABLE x; SELECT 1 AS b$$", _many) with data.sallyport.packs.sql.dialects as ["postgresql"]
	passes("/sql", "SELECT $$a; b$$, $x$a; b$x$") with data.sallyport.packs.sql.dialects as ["postgresql"]
	eleven := concat("", [sprintf("$a%d$ $a%d$ ", [i, i]) | some i in numbers.range(1, 11)])
	passes("/sql", concat("", ["SELECT ", eleven]))
}

test_a_literal_without_an_end_is_refused_unless_one_dialect_reads_its_end if {
	refused("/sql", "SELECT 'a", _open)
	refused("/sql", "SELECT \"a", _open)
	refused("/sql", "SELECT `a", _open)
	passes("/sql", "SELECT 'C:\\'")
	passes("/sql", "SELECT 'it\\'s'")
	refused("/sql", "SELECT 'it\\'s'", _open) with data.sallyport.packs.sql.dialects as ["oracle"]
}

test_comments_without_an_end_and_inside_of_others_are_refused[text] if {
	some text in ["SELECT 1 /*", "SELECT 1 /* /* */ */", "SELECT 1 /*/", "SELECT '\\' /* /* */ */ ; DROP TABLE x; -- '"]
	refused("/sql", text, _comment)
}

test_comments_that_are_run_are_refused_and_hints_pass if {
	refused("/sql", "SELECT /*!50000 1 */", sprintf(_start, ["/*!"]))
	refused("/sql", "SELECT /*M! 1 */", sprintf(_start, ["/*M!"]))
	refused("/sql", "SELECT U&\"\\0061\"(1)", sprintf(_start, ["U&\""]))
	passes("/sql", "SELECT /*+ PARALLEL */ 1")
	passes("/sql", "SELECT '/*! 1 */'")
}

test_a_cr_alone_is_refused_where_there_are_comments if {
	refused("/sql", "SELECT 1 -- a\rb", _cr)
	passes("/sql", "SELECT 1 -- a\r\n")
	passes("/sql", "SELECT\r1")
}

test_every_dangerous_item_is_found if {
	texts := {path: text |
		some i, item in data.sallyport.packs.sql.dangerous
		path := sprintf("/%d/sql", [i])
		text := replace(replace(concat("", ["x ", item, " y"]), " * ", " a b "), "'", "'c'")
	}
	denied := sql.deny with input as selected("sql", texts)
	object.keys(texts) == {finding.path | some finding in denied; startswith(finding.reason, "uses ")}
}

test_dangerous_items_are_found_however_they_are_written[text] if {
	some text in ["SELECT pg_sleep(5)", "SELECT PG_SLEEP (5)", "SELECT pg_sleep/* a */\n(5)", "SELECT a.pg_sleep(5)", "SELECT \"pg_sleep\"(5)", "SELECT [pg_sleep](5)"]
	refused("/sql", text, sprintf(_uses, ["pg_sleep"]))
}

test_dangerous_words_that_are_none_pass[text] if {
	some text in [
		"SELECT pg_sleep", "SELECT my_pg_sleep(5)", "SELECT 'pg_sleep(5)'", "SELECT 1 -- pg_sleep(5)", "INSERT INTO sleep (a) VALUES (1)",
		"CREATE TABLE a.sleep (b int)", "CREATE UNIQUE INDEX i ON sleep (b)", "SELECT * FROM program 'x'", "INSERT INTO outfile VALUES (1)",
	]
	passes("/sql", text)
}

test_the_code_in_dollar_quotes_is_looked_at if {
	refused("/sql", "DO $$ BEGIN PERFORM pg_sleep(5); END $$", sprintf(_uses, ["pg_sleep"]))
	refused("/sql", "CREATE FUNCTION f() AS $$ SELECT pg_sleep(5) $$", sprintf(_uses, ["pg_sleep"]))
	passes("/sql", "SELECT $$pg_sleep(5)$$") with data.sallyport.packs.sql.dialects as ["postgresql"]
}

_allowed := "is or holds a statement that is not allowed here; allowed are: select, with"

test_only_allowed_statements_if_the_data_name_any[text] if {
	some text in [
		"DELETE FROM t", "(DELETE FROM t)", "/* a */ UPDATE t SET a = 1", "WITH x AS (DELETE FROM t RETURNING a) SELECT a FROM x",
		"WITH x AS (SELECT 1) INSERT INTO t SELECT 1", "EXPLAIN ANALYZE SELECT 1", "SELECT 1 DROP TABLE x", "SELECT 1 EXEC p", "1",
		"WITH x AS (SELECT 1) UPDATE t AS u SET a = 1", "SELECT MERGE INTO t",
	]
	refused("/sql", text, _allowed) with data.sallyport.packs.sql.allowed_statements as ["select", "with"]
	passes("/sql", text)
}

test_allowed_statements_pass[text] if {
	some text in ["SELECT 1", "select 1;", " (SELECT 1)", "-- a\nSELECT 1", "WITH x AS (SELECT 1) SELECT a FROM x", "SELECT a FROM t FOR UPDATE", "", "/* a */", "SELECT 'DROP TABLE x'"]
	passes("/sql", text) with data.sallyport.packs.sql.allowed_statements as ["SELECT", "with"]
}

test_each_of_more_statements_has_to_be_allowed if {
	passes("/sql", "SELECT 1; SELECT 2") with data.sallyport.packs.sql.allowed_statements as ["select"] with data.sallyport.packs.sql.max_statements as 3
	found := sql.deny with input as selected("sql", {"/sql": "SELECT 1; SHOW x"})
		with data.sallyport.packs.sql.allowed_statements as ["select"]
		with data.sallyport.packs.sql.max_statements as 3
	count(found) == 1
}

test_names_pass[text] if {
	some text in ["users", "a.b", "\"My Table\"", "[dbo].[My (old) Table]", "`a-b.c.d_*`", "Order Details", "имя", "select", "my-table", "\"Invoice #\"", ""]
	passes("/table", text)
	passes("/tables/0", text)
}

test_what_is_no_name_is_refused[text] if {
	some text, reason in {
		"a; b": "holds ;, which no name has; %s",
		"\"a; b\"": "holds ;, which no name has; %s",
		"a -- b": "holds --, which no name has; %s",
		"a\nb": "holds a line break, which no name has; %s",
		"a(b)": "holds ( outside of a quoted name; %s",
		"a = b": "holds = outside of a quoted name; %s",
		"\"a": "has a quote that does not fit; %s",
		"a]": "has a quote that does not fit; %s",
		"\"a\"\"b\"": "has a quote that does not fit; %s",
		"\" a\"": "has a quote that does not fit; %s",
		"a UNION \t SELECT b": "goes on with union select; %s",
		"[a] where b": "goes on with where; %s",
		"\"x(sleep(1))\"": "holds sleep, which is no name; %s",
		"a, b": "holds more than one name; %s",
	}
	refused("/table", text, sprintf(reason, [_form]))
}

test_lists_of_names_have_commas if {
	passes("/order_by", "a DESC, \"b c\" ASC NULLS LAST")
	passes("/tables", "a, b")
	passes("/tables/0", "a, b")
	refused("/column", "a, b", sprintf("holds more than one name; %s", [_form]))
}

test_what_is_no_place_of_names_is_a_statement if {
	passes("/query", "SELECT count(*) FROM a, b")
	refused("/query", "SELECT 1; SELECT 2", _many)
}

test_keys_are_judged_alike if {
	sql.deny == {{"path": "/sql", "reason": _many}} with input as selected_keys("sql", {"/sql": "SELECT 1; SELECT 2"})
}

test_an_item_that_cannot_be_shown_is_described if {
	wanted := sprintf("holds an item of the lists of this pack outside of a quoted name; %s", [_form])
	refused("/table", "a\uff1b", wanted) with data.sallyport.packs.sql.name_signs as ["\uff1b"]
	passes("/table", "a(") with data.sallyport.packs.sql.name_signs as []
}

test_strings_that_were_not_handed_over_are_refused if {
	call := json.patch(selected("sql", {"/sql": "SELECT 1"}), [{"op": "replace", "path": "/facts/selected/sql/total", "value": 2}])
	sql.deny == {{"path": "", "reason": "more SQL strings than are looked at in one call; send fewer"}} with input as call
}

_cannot_judge(list) if {
	reason := sprintf("the pack sql cannot judge: packs/sql/%s is missing or has the wrong type", [list])
	sql.deny == {{"path": "", "reason": reason}} with input as selected("sql", {"/sql": "SELECT 1; SELECT 2"})
	sql.deny == set() with input as selected("other", {"/sql": "SELECT 1; SELECT 2"})
}

test_data_that_are_not_sound_refuse[list] if {
	some list in [
		"dialects", "max_statements", "allowed_statements", "refused_starts", "dangerous", "identifiers", "identifier_lists",
		"name_signs", "quoted_name_signs", "name_phrases",
	]
	whole := data.sallyport.packs.sql
	_cannot_judge(list) with data.sallyport.packs.sql as json.remove(whole, [list])
	every wrong in [true, "x", {"a": "b"}, [null], [""], 0, 1.5, 1001] {
		_cannot_judge(list) with data.sallyport.packs.sql as object.union(whole, {list: wrong})
	}
}

test_other_data_that_are_not_sound_refuse if {
	_cannot_judge("dialects") with data.sallyport.packs.sql.dialects as []
	_cannot_judge("dialects") with data.sallyport.packs.sql.dialects as ["mysql", "db2"]
	_cannot_judge("dangerous") with data.sallyport.packs.sql.dangerous as ["a\nb"]
}
