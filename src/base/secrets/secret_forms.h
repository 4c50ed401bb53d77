/* The expressions that secrets are found by: names whose values are secrets, the ways in which texts write a name and
 * its value, and values that are known by their shape.
 *
 * Texts come out of JSON, and hold JSON, URLs and HTML themselves: every quote, sign and blank has its escaped forms.
 * All are matched without regard to case unless a part says otherwise. Any change here is a change of
 * PYRO_SECRET_FORMS and thereby of pyro_secret_expressions_key(). */
#ifndef PYRO_BASE_SECRETS_SECRET_FORMS_H
#define PYRO_BASE_SECRETS_SECRET_FORMS_H

/* The default of spark.redaction.regex, and of spark.sql.redaction.options.regex. */
#define SPARK_WORDS   "secret|password|token|access[.]?key"
#define SPARK_OPTIONS "url"

/* Beyond them. */
#define MORE_WORDS                                                                                                     \
    "passwd|pwd|passphrase|passcode|credential|(?:api|access|account|private|shared(?:[._-]?access)?|auth|storage"     \
    "|encryption|signing)(?:[._-]|%5f|%2d)?key|fs[.]azure[.]sas"

/* ---- How signs are written: as they are, in JSON inside of a text, in a URL, in HTML ---- */

#define ESCAPE "(?:\\\\|%(?:25)*5c|&(?:bsol|#0*92|#x0*5c);)"
#define CODED                                                                                                          \
    "(?:&(?:quot|apos|#0*(?:34|39|96)|#x0*(?:22|27|60));|%(?:25)*(?:22|27|60)|\\\\+u00(?:22|27|60))" /* a quote */
#define QUOTE  "(?:" ESCAPE "*(?:[\"'`]|" CODED "))"
#define EQUALS "(?:=|%(?:25)*3d|&(?:equals|#0*61|#x0*3d);|\\\\+u003d)"
#define MORE   "(?:>|%(?:25)*3e|&(?:gt|#0*62|#x0*3e);|\\\\+u003e)"
#define LESS   "(?:<|%(?:25)*3c|&(?:lt|#0*60|#x0*3c);|\\\\+u003c)"
#define COLON  "(?::|%(?:25)*3a|&(?:colon|#0*58|#x0*3a);|\\\\+u003a)"
#define SLASH  "(?:\\\\*/|%(?:25)*2f|&(?:sol|#0*47|#x0*2f);|\\\\+u002f)"
#define AT     "(?:@|%(?:25)*40|&(?:commat|#0*64|#x0*40);|\\\\+u0040)"
#define BLANK  "(?:\\s|%(?:25)*20|&(?:nbsp|#0*32|#x0*20|#160);|\\\\+u0020)"
#define BLANKS BLANK "{0,16}+"

/* What ends a name: its rest, and the quote around it. */
#define TAIL "(?:[\\w.\\-]|%5f|%2d|%2e){0,64}"

/* ---- Values ---- */

/* One that was replaced before, by Spark or here. */
#define NOT_REPLACED "(?!" QUOTE "?\\*{4})"
#define ENDS         "(?:[\\s,;&)\\]}>(<\"'\\\\]|$)"
#define NO_VALUE     "(?!" QUOTE "?(?:null|none|true|false)" ENDS ")"
/* A column and its type: "password: string". */
#define NO_TYPE                                                                                                        \
    "(?!(?:string|str|text|varchar|char|int|integer|bigint|smallint|tinyint|long|short|byte|float|double|real|decimal" \
    "|numeric|bool|boolean|binary|date|time|timestamp|timestamp_ltz|timestamp_ntz|interval|void|any|object|array|map"  \
    "|struct|list|variant)" ENDS ")"
/* Between quotes, which an end of the text closes too: texts are cut. */
#define QUOTED                                                                                                         \
    "\"(?:[^\"\\\\]|\\\\.|\"\")*+(?:\"|\\z)|'(?:[^'\\\\]|\\\\.|'')*+(?:'|\\z)|`[^`]*+(?:`|\\z)"                        \
    "|(" ESCAPE "++(?:[\"'`]|" CODED ")|" CODED ")"                                                                    \
    "(?s:.)*?(?:(?<!\\\\)(?<!%5c)(?<!%255c)(?<!&#92;)\\g{-1}|\\z)"
/* A list is hidden as a whole; and a scheme before a token, which alone says nothing. */
#define LIST                                                                                                           \
    "\\[[^\\]\\n]*+(?:\\]|\\z)|(?:(?:Wrapped)?Array|ArrayBuffer|ArraySeq|Buffer|List|Seq|Set|Vector)"                  \
    "\\([^)\\n]*+(?:\\)|\\z)"
#define SCHEME "(?:(?:bearer|basic|negotiate)" BLANK "{1,4}+(?=[^\\s*]))?+"
#define BARE   "(?:[^\\s,;&)\\]}\"'`\\\\]|\\\\(?!\\\\*[\"'`])|&(?:amp|lt|gt|apos|quot|#\\w{1,6});(?!quot;))++"
#define VALUE  "(" QUOTED "|" LIST "|" SCHEME BARE ")"

/* ---- A name and its value ---- */

/* name=value, name => value, name -> value, 'name': value; password: value; password 'value'; --password value.
 * `words`: of names; `clear`: those that need no quotes before a ':', since schemas are written name:type. */
#define NAMED_FORMS(words, clear)                                                                                      \
    "(?:" words ")" TAIL "(?:" QUOTE "?" BLANKS "(?:" EQUALS MORE "?+|-" MORE "|" COLON EQUALS ")" BLANKS              \
    "|" QUOTE BLANKS COLON BLANKS "(?![{]))" NOT_REPLACED NO_VALUE "|(?:" clear ")s?+" COLON BLANKS                    \
    "(?!\\{|\\[\\{|--)" NO_TYPE NOT_REPLACED NO_VALUE "|(?<![a-z])(?:" clear "|identified" BLANK "{1,16}+by)" BLANK    \
    "{1,16}+(?=" QUOTE ")" NOT_REPLACED "|--[\\w.\\-]{0,64}?(?:" words ")[\\w.\\-]{0,64}" BLANK                        \
    "{1,16}+(?!-)" NOT_REPLACED

#define SPARK_CLEAR "password|secret"
/* A token has a digit: parsers complain of others. */
#define MORE_CLEAR                                                                                                     \
    "password|passwd|pwd|passphrase|passcode|secret|(?:api|access|account|private|secret)(?:[._-]|%5f|%2d)?key[\\w."   \
    "\\-]{0,64}"                                                                                                       \
    "|(?:token|credentials?)(?=" COLON BLANKS "(?=\\S{0,80}\\d)\\S{6})"

/* A pair as Scala prints it: "(my.password,value)". A name before the parenthesis would be that of a function. */
#define TUPLE_FORMS(words)                                                                                             \
    "|(?<![\\w)\\]])\\([\\w.\\-]{0,64}?(?:" words ")" TAIL "," NOT_REPLACED NO_VALUE NO_TYPE "(?!" BLANK ")"

/* Headers, and signatures of signed addresses. Without a scheme, the value of one has a digit. */
#define HEADER_FORMS                                                                                                   \
    "(?<![a-z])authorization" QUOTE "?" BLANKS "(?:" COLON "|" EQUALS ")" BLANKS QUOTE "?(?:basic|bearer"              \
    "|negotiate|token|apikey)(?:" BLANK "|\\+){1,16}+" NOT_REPLACED "|(?<![a-z.])authorization" QUOTE "?" BLANKS       \
    "(?:" COLON "|" EQUALS ")" BLANKS "(?!" QUOTE "?(?:basic|bearer|negotiate|token|apikey|digest)\\b)"                \
    "(?=\\S{0,80}\\d)(?=\\S{8})" NOT_REPLACED "|(?<![a-z])bearer(?:" BLANK                                             \
    "|\\+){1,16}+(?!tokens?\\b|auth|of\\b)(?=\\S{4})" NOT_REPLACED                                                     \
    "|(?<![a-z])(?:sig|signature|hadoop[.]auth)" EQUALS NOT_REPLACED "|(?<![a-z])curl" BLANK                           \
    "(?:[^\\n|;]{0,200}?" BLANK ")?(?:-u" BLANK "{0,4}+|--user(?:=|" BLANK "{1,4}+))" QUOTE                            \
    "?[^\\s:\"']{1,128}:" NOT_REPLACED

/* All cookies of a header; all that a digest says; the value of a property, or of an element, in XML. Each with its own
 * group. */
#define WHOLE_FORMS(words)                                                                                             \
    "|(?<![a-z])(?:set-)?cookie" QUOTE "?" BLANKS COLON BLANKS NOT_REPLACED "(" QUOTED "|" LIST                        \
    "|[^\\s,;\"'`]++(?:[;,][ ]?+[\\w.\\-]{1,64}=[^\\s,;\"'`]*+)*+)"                                                    \
    "|(?<![a-z])authorization" QUOTE "?" BLANKS "(?:" COLON "|" EQUALS ")" BLANKS QUOTE "?digest" BLANK                \
    "{1,4}+" NOT_REPLACED "([^\\r\\n]++)"                                                                              \
    "|(?:" words ")" TAIL LESS SLASH "name" MORE "\\s{0,64}(?:" LESS "final" MORE "\\w{0,5}" LESS SLASH "final" MORE   \
    "\\s{0,64})?" LESS "value" MORE NOT_REPLACED "((?:(?!" LESS ").)++)"                                               \
    "|" LESS "[\\w.\\-:]{0,64}?(?:" words ")" TAIL MORE NOT_REPLACED "((?:(?!" LESS ").)++)(?=" LESS SLASH ")"

/* ---- Passwords in addresses, up to the last '@' before the path: scheme://user:password@, and Oracle's ---- */

#define ADDRESS_FORMS                                                                                                  \
    COLON SLASH SLASH "(?:(?!" COLON "|" AT "|" SLASH ")[^\\s\"'<>])*+" COLON NOT_REPLACED "((?:(?!" SLASH             \
                      ")[^\\s\"'<>])+)(?=" AT ")"                                                                      \
                      "|https?" COLON SLASH SLASH "(?=[^\\s/]{16})((?:(?!" COLON "|" AT "|" SLASH                      \
                      ")[^\\s\"'<>*])++)(?=" AT ")"                                                                    \
                      "|oracle:\\w{1,16}:[^\\s/:@\"']{1,128}/" NOT_REPLACED "([^\\s/@\"']{1,1024})(?=@)"

/* ---- Values that are known by their shape: all of them is the secret ---- */

#define SHAPED_FORMS                                                                                                   \
    "(?-i:A(?:KIA|SIA)[A-Z0-9]{12,})"                                                                                  \
    "|(?-i:eyJ)[\\w\\-]{6,}(?:\\.|%2e)[\\w\\-]{4,}(?:(?:\\.|%2e)[\\w\\-]*)?"                                           \
    "|(?-i:gh[opsru]_|github_pat_)\\w{16,}|(?-i:glpat-)[\\w\\-]{16,}|(?-i:xox[abeoprs]-)[\\w\\-]{8,}"                  \
    "|(?-i:AIza)[\\w\\-]{30,}|(?-i:dapi)[0-9a-f]{32}|(?-i:sk_live_|rk_live_)\\w{12,}"                                  \
    "|-----BEGIN(?s:.)*?(?:-----END[^-]{0,64}-----|\\z)"

#define CASELESS "(?i)"

#endif
