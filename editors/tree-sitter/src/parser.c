// Written by editors/tree_sitter.py from grammar/mks.lark. What tree-sitter asks of a language, ABI version 14.

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The interface: types as tree-sitter's library lays them out.

typedef uint16_t Symbol;
typedef uint16_t State;

typedef struct Lexer Lexer;
struct Lexer {
    int32_t lookahead;
    Symbol result_symbol;
    void (*advance)(Lexer *, bool skip);
    void (*mark_end)(Lexer *);
    uint32_t (*get_column)(Lexer *);
    bool (*is_at_included_range_start)(const Lexer *);
    bool (*eof)(const Lexer *);
};

enum { SHIFT, REDUCE, ACCEPT, RECOVER };

typedef union {
    struct {
        uint8_t type;
        State state;
        bool extra;
        bool repetition;
    } shift;
    struct {
        uint8_t type;
        uint8_t child_count;
        Symbol symbol;
        int16_t dynamic_precedence;
        uint16_t production_id;
    } reduce;
    uint8_t type;
} Action;

typedef union {
    Action action;
    struct {
        uint8_t count;
        bool reusable;
    } entry;
} ActionEntry;

typedef struct {
    bool visible;
    bool named;
    bool supertype;
} Metadata;

typedef struct {
    uint16_t lex_state;
    uint16_t external_lex_state;
} LexMode;

typedef struct {
    uint32_t version;
    uint32_t symbol_count;
    uint32_t alias_count;
    uint32_t token_count;
    uint32_t external_token_count;
    uint32_t state_count;
    uint32_t large_state_count;
    uint32_t production_id_count;
    uint32_t field_count;
    uint16_t max_alias_sequence_length;
    const uint16_t *parse_table;
    const uint16_t *small_parse_table;
    const uint32_t *small_parse_table_map;
    const ActionEntry *parse_actions;
    const char *const *symbol_names;
    const char *const *field_names;
    const void *field_map_slices;
    const void *field_map_entries;
    const Metadata *symbol_metadata;
    const Symbol *public_symbol_map;
    const uint16_t *alias_map;
    const Symbol *alias_sequences;
    const LexMode *lex_modes;
    bool (*lex_fn)(Lexer *, State);
    bool (*keyword_lex_fn)(Lexer *, State);
    Symbol keyword_capture_token;
    struct {
        const bool *states;
        const Symbol *symbol_map;
        void *(*create)(void);
        void (*destroy)(void *);
        bool (*scan)(void *, Lexer *, const bool *);
        unsigned (*serialize)(void *, char *);
        void (*deserialize)(void *, const char *, unsigned);
    } external_scanner;
    const State *primary_state_ids;
} Language;

// Words.

enum {
    T_end = 0, T_ACCEPTED = 1, T_ALLOW = 2, T_AMP = 3, T_AND = 4, T_ASCII = 5, T_BUT = 6, T_CARET = 7, T_CASE = 8,
    T_CMP = 9, T_CODE = 10, T_COLON = 11, T_COMMA = 12, T_COMPLETES = 13, T_CONCAT = 14, T_DOT = 15, T_DOTDOT = 16,
    T_ELSE = 17, T_END = 18, T_EQ = 19, T_ERRNO = 20, T_EVERY = 21, T_EXPECT = 22, T_FOR = 23, T_HEX = 24, T_IF = 25,
    T_IN = 26, T_INT = 27, T_KNOWN = 28, T_LBRACE = 29, T_LET = 30, T_LPAR = 31, T_LSQB = 32, T_MINUS = 33,
    T_MUL = 34, T_NAME = 35, T_NEEDS = 36, T_NOT = 37, T_OR = 38, T_PEER = 39, T_PIPE = 40, T_PLUS = 41,
    T_PLUSCOLON = 42, T_PREP = 43, T_RBRACE = 44, T_REJECTED = 45, T_REQ = 46, T_RPAR = 47, T_RSQB = 48,
    T_SHIFT = 49, T_STRING = 50, T_TILDE = 51, T_VERIFIES = 52, T_WHEN = 53, T_WHERE = 54, T_COMMENT = 55,
};

// What a line end and `;` are in a state: the end of a statement; nothing; nothing and an error. RECOVERY: the end of a
// statement, but not at the end of the file, since an end without a character would be found there again and again.
enum { STATEMENT, OPEN, INSIDE, RECOVERY };

static const struct {
    const char *text;
    Symbol kind;
} words[] = {
    {"accepted", T_ACCEPTED}, {"and", T_AND}, {"as", T_PREP}, {"but", T_BUT}, {"by", T_PREP}, {"case", T_CASE},
    {"completes", T_COMPLETES}, {"else", T_ELSE}, {"every", T_EVERY}, {"expect", T_EXPECT}, {"for", T_FOR},
    {"from", T_PREP}, {"if", T_IF}, {"in", T_IN}, {"into", T_PREP}, {"is", T_PREP}, {"known", T_KNOWN},
    {"let", T_LET}, {"needs", T_NEEDS}, {"not", T_NOT}, {"on", T_PREP}, {"or", T_OR}, {"peer", T_PEER},
    {"rejected", T_REJECTED}, {"to", T_PREP}, {"verifies", T_VERIFIES}, {"when", T_WHEN}, {"where", T_WHERE},
};

// Before these a line goes on.
static const bool goes_on[56] = {
    [T_ACCEPTED] = true, [T_AMP] = true, [T_AND] = true, [T_BUT] = true, [T_CARET] = true, [T_CMP] = true,
    [T_COMPLETES] = true, [T_CONCAT] = true, [T_DOT] = true, [T_DOTDOT] = true, [T_ELSE] = true, [T_EQ] = true,
    [T_EVERY] = true, [T_IN] = true, [T_KNOWN] = true, [T_MUL] = true, [T_OR] = true, [T_PIPE] = true,
    [T_PLUS] = true, [T_PLUSCOLON] = true, [T_PREP] = true, [T_REJECTED] = true, [T_SHIFT] = true, [T_WHEN] = true,
};

static bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }
static bool is_lower(int32_t c) { return c >= 'a' && c <= 'z'; }
static bool is_upper(int32_t c) { return c >= 'A' && c <= 'Z'; }
static bool is_hex(int32_t c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
static bool is_binary(int32_t c) { return c == '0' || c == '1'; }
static bool is_word(int32_t c) { return is_digit(c) || is_lower(c) || is_upper(c) || c == '_' || c >= 128; }
static bool is_blank(int32_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f'; }

// A lexer, and whether the end of what it has found may be moved: not behind a line end that may be the token itself.
typedef struct {
    Lexer *lexer;
    bool fixed;
} Reader;

static int32_t peek(Reader *r) { return r->lexer->lookahead; }
static void next(Reader *r) { r->lexer->advance(r->lexer, false); }
static void mark(Reader *r) {
    if (!r->fixed)
        r->lexer->mark_end(r->lexer);
}

// The rest of a text in double quotes, with or without escapes.
static bool quoted(Reader *r, bool escapes) {
    next(r);
    for (;;) {
        int32_t c = peek(r);
        if (c == '\n' || r->lexer->eof(r->lexer))
            return false;
        next(r);
        if (c == '"')
            break;
        if (c == '\\' && escapes) {
            if (peek(r) == '\n' || r->lexer->eof(r->lexer))
                return false;
            next(r);
        }
    }
    mark(r);
    return true;
}

// Digits with single underscores between them.
static bool digits(Reader *r, bool (*is)(int32_t)) {
    for (;;) {
        if (!is(peek(r)))
            return false;
        while (is(peek(r)))
            next(r);
        if (peek(r) != '_')
            return true;
        next(r);
    }
}

static int number(Reader *r) {
    bool zero = peek(r) == '0';
    bool found;
    next(r);
    if (zero && (peek(r) == 'x' || peek(r) == 'b')) {
        bool hexadecimal = peek(r) == 'x';
        next(r);
        found = digits(r, hexadecimal ? is_hex : is_binary);
    } else {
        found = true;
        if (is_digit(peek(r)))
            found = digits(r, is_digit);
        else if (peek(r) == '_') {
            next(r);
            found = digits(r, is_digit);
        }
        if (found && (peek(r) == 'K' || peek(r) == 'M' || peek(r) == 'G'))
            next(r);
    }
    if (!found || is_word(peek(r)))
        return -1;
    mark(r);
    return T_INT;
}

// A word of small letters.
static int name(Reader *r) {
    char text[16];
    unsigned length = 0;
    bool right = true;
    while (is_word(peek(r))) {
        int32_t c = peek(r);
        right = right && (is_lower(c) || is_digit(c) || c == '_');
        if (length < sizeof(text) - 1)
            text[length] = (char)c;
        length++;
        next(r);
    }
    if (!right)
        return -1;
    mark(r);
    if (length >= sizeof(text))
        return T_NAME;
    text[length] = 0;
    if (peek(r) == '"' && strcmp(text, "hex") == 0)
        return quoted(r, false) ? T_HEX : -1;
    if (peek(r) == '"' && strcmp(text, "ascii") == 0)
        return quoted(r, true) ? T_ASCII : -1;
    for (unsigned at = 0; at < sizeof(words) / sizeof(words[0]); at++)
        if (strcmp(words[at].text, text) == 0)
            return words[at].kind;
    if (strcmp(text, "allow") == 0 && (peek(r) == ' ' || peek(r) == '\t')) {
        while (peek(r) == ' ' || peek(r) == '\t')
            next(r);
        for (const char *letter = "MKS"; *letter; letter++) {
            if (peek(r) != *letter)
                return T_NAME;
            next(r);
        }
        return is_digit(peek(r)) ? T_ALLOW : T_NAME;
    }
    return T_NAME;
}

// A word of capitals: the code of a warning, the id of a requirement, an error number.
static int capitals(Reader *r) {
    char text[8];
    unsigned length = 0;
    int found = -1;
    while (is_upper(peek(r)) || is_digit(peek(r))) {
        if (length < sizeof(text))
            text[length] = (char)peek(r);
        length++;
        next(r);
    }
    if (is_word(peek(r)))
        return -1;
    if (length == 7 && strncmp(text, "MKS", 3) == 0 && is_digit(text[3]) && is_digit(text[4]) && is_digit(text[5]) &&
        is_digit(text[6])) {
        mark(r);
        return T_CODE;
    }
    if (length >= 2 && text[0] == 'E' && is_upper(text[1])) {
        mark(r);
        found = T_ERRNO;
    }
    while (peek(r) == '-') {
        next(r);
        if (is_upper(peek(r))) {
            while (is_upper(peek(r)))
                next(r);
            continue;
        }
        if (!is_digit(peek(r)))
            return found;
        while (is_digit(peek(r)))
            next(r);
        if (is_lower(peek(r)))
            next(r);
        if (is_word(peek(r)))
            return found;
        mark(r);
        return T_REQ;
    }
    return found;
}

// `two`, if the next character is `second`, else `one`.
static int sign(Reader *r, int one, int32_t second, int two) {
    next(r);
    if (peek(r) == second) {
        next(r);
        one = two;
    }
    if (one >= 0)
        mark(r);
    return one;
}

static int plus(Reader *r) {
    int found = sign(r, T_PLUS, '+', T_CONCAT);
    return found == T_PLUS ? (peek(r) == ':' ? (next(r), mark(r), T_PLUSCOLON) : T_PLUS) : found;
}

static int angle(Reader *r, int32_t c) {
    int found = sign(r, T_CMP, c, T_SHIFT);
    return found == T_CMP && peek(r) == '=' ? (next(r), mark(r), T_CMP) : found;
}

static int word(Reader *r) {
    int32_t c = peek(r);
    if (is_lower(c))
        return name(r);
    if (is_upper(c))
        return capitals(r);
    if (is_digit(c))
        return number(r);
    switch (c) {
    case '"':
        return quoted(r, true) ? T_STRING : -1;
    case '+':
        return plus(r);
    case '<':
    case '>':
        return angle(r, c);
    case '=':
        return sign(r, T_EQ, '=', T_CMP);
    case '!':
        return sign(r, -1, '=', T_CMP);
    case '.':
        return sign(r, T_DOT, '.', T_DOTDOT);
    case '-':
        return sign(r, T_MINUS, -1, 0);
    case '*':
    case '/':
    case '%':
        return sign(r, T_MUL, -1, 0);
    case '|':
        return sign(r, T_PIPE, -1, 0);
    case '^':
        return sign(r, T_CARET, -1, 0);
    case '&':
        return sign(r, T_AMP, -1, 0);
    case '~':
        return sign(r, T_TILDE, -1, 0);
    case ',':
        return sign(r, T_COMMA, -1, 0);
    case ':':
        return sign(r, T_COLON, -1, 0);
    case '(':
        return sign(r, T_LPAR, -1, 0);
    case ')':
        return sign(r, T_RPAR, -1, 0);
    case '[':
        return sign(r, T_LSQB, -1, 0);
    case ']':
        return sign(r, T_RSQB, -1, 0);
    case '{':
        return sign(r, T_LBRACE, -1, 0);
    case '}':
        return sign(r, T_RBRACE, -1, 0);
    default:
        return -1;
    }
}

static bool lex(Lexer *lexer, State mode) {
    Reader reader = {lexer, false};
    Reader *r = &reader;
    bool ends = mode == STATEMENT || mode == RECOVERY;
    int kind;
    while (is_blank(peek(r)) || peek(r) == '\n' || (peek(r) == ';' && mode == OPEN)) {
        bool line_end = peek(r) == '\n';
        lexer->advance(lexer, true);
        if (line_end && ends && !r->fixed) { // the token may be this end, which is behind it and has no character
            lexer->mark_end(lexer);
            r->fixed = true;
        }
    }
    if (lexer->eof(lexer)) {
        lexer->result_symbol = mode == STATEMENT ? T_END : 0;
        return true;
    }
    if (peek(r) == '#') {
        while (peek(r) != '\n' && !lexer->eof(lexer))
            next(r);
        lexer->mark_end(lexer);
        lexer->result_symbol = T_COMMENT;
        return true;
    }
    if (peek(r) == ';' && ends) {
        next(r);
        mark(r);
        lexer->result_symbol = T_END;
        return true;
    }
    kind = word(r);
    if (r->fixed) {
        if (kind >= 0 && goes_on[kind])
            lexer->mark_end(lexer);
        else
            kind = T_END;
    }
    if (kind < 0)
        return false;
    lexer->result_symbol = (Symbol)kind;
    return true;
}

// Tables.

static const char *const symbol_names[] = {
    "end", "accepted", "allow", "&", "and", "ascii", "but", "^", "case", "cmp", "code", ":", ",", "completes", "++",
    ".", "..", "else", "end", "=", "error_number", "every", "expect", "for", "hex", "if", "in", "integer", "known",
    "{", "let", "(", "[", "-", "mul", "name", "needs", "not", "or", "peer", "|", "+", "+:", "preposition", "}",
    "rejected", "requirement", ")", "]", "shift", "string", "~", "verifies", "when", "where", "comment", "allow",
    "allow_list", "and_expr", "binary", "assigned", "band", "binary", "bits", "binary", "block", "block_empty",
    "block_lines", "blocked", "branch", "case_line", "claim", "claimed", "comparison", "binary", "not_in", "concat",
    "binary", "known", "known_modifiers", "known_outcome", "known_value", "known_value_modifiers", "every", "binary",
    "expect", "expr", "binary", "file", "for_item", "for_labelled", "for_items", "for_line", "if_line", "and_expr",
    "binary", "band", "binary", "bits", "binary", "comparison", "binary", "not_in", "concat", "binary", "every",
    "binary", "expr", "binary", "item", "item_named", "item_pair", "items", "names", "not_expr", "unary",
    "ascii_bytes", "attribute", "call", "call_empty", "comprehension", "errno", "group", "hex_bytes", "index",
    "index_open", "list_empty", "list_of", "number", "ref", "text", "tuple_of", "product", "binary", "range",
    "range_to", "range_width", "shift", "binary", "sign", "unary", "sum", "binary", "tuple_items", "value", "but",
    "xor", "binary", "known", "known_when", "let_function", "let_value", "line", "lines", "modified", "modifier",
    "modifier_but", "modifiers", "names", "needs", "needs_list", "not_expr", "unary", "accepted", "completes",
    "completes_in", "rejected", "rejected_with", "outcomes", "phrased", "ascii_bytes", "attribute", "call",
    "call_empty", "comprehension", "errno", "group", "hex_bytes", "index", "index_open", "list_empty", "list_of",
    "number", "ref", "text", "tuple_of", "product", "binary", "range", "range_to", "range_width", "sentence",
    "shift", "binary", "sign", "unary", "step", "sum", "binary", "title", "value", "but", "verb", "verifies",
    "verifies_list", "where", "xor", "binary",
};

static const Metadata symbol_metadata[] = {
    {false, true, false}, {true, false, false}, {true, false, false}, {true, false, false}, {true, false, false},
    {true, true, false}, {true, false, false}, {true, false, false}, {true, false, false}, {true, false, false},
    {true, true, false}, {true, false, false}, {true, false, false}, {true, false, false}, {true, false, false},
    {true, false, false}, {true, false, false}, {true, false, false}, {false, false, false}, {true, false, false},
    {true, true, false}, {true, false, false}, {true, false, false}, {true, false, false}, {true, true, false},
    {true, false, false}, {true, false, false}, {true, true, false}, {true, false, false}, {true, false, false},
    {true, false, false}, {true, false, false}, {true, false, false}, {true, false, false}, {true, false, false},
    {true, true, false}, {true, false, false}, {true, false, false}, {true, false, false}, {true, false, false},
    {true, false, false}, {true, false, false}, {true, false, false}, {true, true, false}, {true, false, false},
    {true, false, false}, {true, true, false}, {true, false, false}, {true, false, false}, {true, false, false},
    {true, true, false}, {true, false, false}, {true, false, false}, {true, false, false}, {true, false, false},
    {true, true, false}, {true, true, false}, {false, true, false}, {false, true, false}, {true, true, false},
    {false, true, false}, {false, true, false}, {true, true, false}, {false, true, false}, {true, true, false},
    {true, true, false}, {true, true, false}, {false, true, false}, {false, true, false}, {true, true, false},
    {true, true, false}, {true, true, false}, {false, true, false}, {false, true, false}, {true, true, false},
    {true, true, false}, {false, true, false}, {true, true, false}, {true, true, false}, {true, true, false},
    {true, true, false}, {true, true, false}, {true, true, false}, {false, true, false}, {true, true, false},
    {true, true, false}, {false, true, false}, {true, true, false}, {true, true, false}, {true, true, false},
    {true, true, false}, {false, true, false}, {true, true, false}, {true, true, false}, {false, true, false},
    {true, true, false}, {false, true, false}, {true, true, false}, {false, true, false}, {true, true, false},
    {false, true, false}, {true, true, false}, {true, true, false}, {false, true, false}, {true, true, false},
    {false, true, false}, {true, true, false}, {false, true, false}, {true, true, false}, {true, true, false},
    {true, true, false}, {true, true, false}, {false, true, false}, {false, true, false}, {false, true, false},
    {true, true, false}, {true, true, false}, {true, true, false}, {true, true, false}, {true, true, false},
    {true, true, false}, {true, true, false}, {true, true, false}, {true, true, false}, {true, true, false},
    {true, true, false}, {true, true, false}, {true, true, false}, {true, true, false}, {true, true, false},
    {true, true, false}, {true, true, false}, {false, true, false}, {true, true, false}, {false, true, false},
    {true, true, false}, {true, true, false}, {false, true, false}, {true, true, false}, {false, true, false},
    {true, true, false}, {false, true, false}, {true, true, false}, {false, true, false}, {false, true, false},
    {true, true, false}, {false, true, false}, {true, true, false}, {false, true, false}, {true, true, false},
    {true, true, false}, {true, true, false}, {false, true, false}, {false, true, false}, {false, true, false},
    {true, true, false}, {true, true, false}, {false, true, false}, {false, true, false}, {true, true, false},
    {false, true, false}, {false, true, false}, {true, true, false}, {true, true, false}, {true, true, false},
    {true, true, false}, {true, true, false}, {true, true, false}, {false, true, false}, {false, true, false},
    {true, true, false}, {true, true, false}, {true, true, false}, {true, true, false}, {true, true, false},
    {true, true, false}, {true, true, false}, {true, true, false}, {true, true, false}, {true, true, false},
    {true, true, false}, {true, true, false}, {true, true, false}, {true, true, false}, {true, true, false},
    {true, true, false}, {false, true, false}, {true, true, false}, {false, true, false}, {true, true, false},
    {true, true, false}, {false, true, false}, {false, true, false}, {true, true, false}, {false, true, false},
    {true, true, false}, {true, true, false}, {false, true, false}, {true, true, false}, {true, true, false},
    {false, true, false}, {true, true, false}, {false, true, false}, {true, true, false}, {false, true, false},
    {true, true, false}, {false, true, false}, {true, true, false},
};

static const Symbol public_symbol_map[] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 0, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
    31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 2, 57, 58,
    59, 60, 61, 59, 63, 59, 65, 66, 67, 68, 69, 70, 71, 72, 73, 59, 75, 76, 59, 28, 79, 80, 81, 82, 83, 59, 22, 86,
    59, 88, 89, 90, 91, 92, 93, 58, 59, 61, 59, 63, 59, 73, 59, 75, 76, 59, 83, 59, 86, 59, 109, 110, 111, 112, 113,
    114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 59, 134, 135, 136,
    137, 59, 139, 115, 141, 59, 143, 144, 6, 146, 59, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 113, 36, 160,
    114, 115, 1, 13, 165, 45, 167, 168, 169, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129,
    130, 131, 132, 59, 134, 135, 136, 191, 137, 59, 139, 115, 196, 141, 59, 199, 144, 6, 202, 52, 204, 54, 146, 59,
};

static const uint16_t parse_table[2][208] = {
    {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {29, 0, 5, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 11, 0, 13, 0, 0, 0, 0, 15, 0, 0, 0, 0, 17, 19, 0, 0, 21, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 23, 0, 25, 0, 27, 3, 14, 15, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 17, 0, 18, 0, 19, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 21, 0, 0, 0, 22, 23, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24, 24, 25, 26, 27, 0, 0, 0, 0, 28, 29, 0, 0, 0, 0, 0, 0, 0, 0, 30, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 31, 0, 0, 0, 0, 32, 0, 0, 33, 0, 0, 34, 35, 36, 37, 0, 0},
};

static const uint16_t small_parse_table[] = {
    2, 31, 1, 10, 3, 1, 55, 2, 33, 1, 35, 3, 1, 55, 25, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31,
    45, 1, 32, 47, 1, 33, 49, 1, 35, 51, 3, 37, 58, 59, 53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55,
    52, 2, 61, 62, 54, 3, 73, 74, 75, 56, 2, 83, 84, 57, 2, 86, 87, 58, 2, 161, 162,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 65, 2, 200, 201, 66, 2, 206, 207, 3,
    57, 1, 35, 3, 1, 55, 68, 1, 158, 25, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33,
    49, 1, 35, 51, 3, 37, 58, 59, 53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62, 54, 3, 73, 74, 75,
    56, 2, 83, 84, 69, 2, 86, 87, 58, 2, 161, 162,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 65, 2, 200, 201, 66, 2, 206, 207, 2,
    59, 1, 35, 3, 1, 55, 21, 61, 14, 1, 12, 13, 18, 19, 28, 29, 43, 44, 45, 53, 188, 189, 190, 35, 1, 5, 37, 1, 20,
    39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35, 53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55,
    52, 2, 61, 62, 56, 2, 83, 84,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 71, 2, 200, 201, 66, 2, 206, 207, 25, 35, 1, 5, 37, 1, 20,
    39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35, 51, 3, 37, 58, 59, 53, 3, 50, 63, 64,
    55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62, 54, 3, 73, 74, 75, 56, 2, 83, 84, 72, 2, 86, 87, 58, 2, 161, 162,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 65, 2, 200, 201, 66, 2, 206, 207, 2,
    63, 1, 35, 3, 1, 55, 2, 65, 2, 18, 44, 3, 1, 55, 2, 67, 1, 46, 3, 1, 55, 25, 35, 1, 5, 37, 1, 20, 39, 1, 24,
    41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35, 51, 3, 37, 58, 59, 53, 3, 50, 63, 64, 55, 3, 51, 76, 77,
    3, 1, 55, 52, 2, 61, 62, 54, 3, 73, 74, 75, 56, 2, 83, 84, 75, 2, 86, 87, 58, 2, 161, 162,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 65, 2, 200, 201, 66, 2, 206, 207, 2,
    69, 2, 18, 44, 3, 1, 55, 3, 71, 1, 12, 73, 2, 18, 44, 3, 1, 55, 2, 75, 9, 1, 12, 13, 18, 28, 29, 44, 45, 53,
    3, 1, 55, 8, 77, 1, 1, 79, 1, 13, 85, 3, 18, 28, 44, 81, 2, 45, 69, 83, 6, 53, 163, 164, 165, 166, 167, 3, 1, 55,
    82, 1, 71, 84, 1, 168, 2, 69, 2, 18, 44, 3, 1, 55, 4, 89, 2, 18, 44, 87, 3, 28, 148, 149, 3, 1, 55,
    86, 5, 78, 79, 80, 81, 82, 2, 69, 2, 18, 44, 3, 1, 55, 2, 91, 1, 0, 3, 1, 55, 2, 69, 2, 18, 44, 3, 1, 55, 2,
    69, 2, 18, 44, 3, 1, 55, 2, 69, 2, 18, 44, 3, 1, 55, 2, 93, 1, 18, 3, 1, 55, 31, 95, 1, 0, 5, 1, 2, 7, 1, 8,
    9, 1, 22, 11, 1, 23, 13, 1, 25, 15, 2, 30, 57, 17, 2, 35, 68, 19, 2, 36, 72, 21, 1, 39, 23, 2, 50, 93, 25, 1, 52,
    27, 2, 54, 154, 3, 1, 55, 14, 1, 56, 16, 1, 60, 18, 1, 70, 20, 1, 85, 22, 1, 92, 24, 2, 150, 151, 89, 1, 152,
    28, 1, 159, 29, 1, 160, 30, 1, 169, 31, 1, 191, 32, 1, 196, 33, 1, 199, 34, 1, 202, 35, 1, 203, 36, 1, 204,
    37, 1, 205, 5, 101, 7, 1, 13, 18, 28, 44, 45, 53, 97, 1, 12, 99, 1, 29, 3, 1, 55, 92, 2, 65, 66, 2,
    69, 2, 18, 44, 3, 1, 55, 3, 103, 1, 12, 105, 2, 18, 44, 3, 1, 55, 4, 111, 9, 1, 12, 13, 18, 28, 29, 44, 45, 53,
    107, 1, 19, 109, 1, 43, 3, 1, 55, 2, 113, 2, 18, 44, 3, 1, 55, 2, 69, 2, 18, 44, 3, 1, 55, 2, 69, 2, 18, 44,
    3, 1, 55, 2, 115, 11, 1, 12, 13, 18, 19, 28, 29, 43, 44, 45, 53, 3, 1, 55, 2, 69, 2, 18, 44, 3, 1, 55, 3,
    117, 1, 12, 119, 2, 18, 44, 3, 1, 55, 2, 69, 2, 18, 44, 3, 1, 55, 2, 121, 3, 12, 18, 44, 3, 1, 55, 3,
    125, 2, 18, 44, 123, 1, 50, 3, 1, 55, 2,
    127, 31, 1, 3, 4, 6, 7, 9, 12, 13, 14, 15, 16, 18, 19, 21, 26, 28, 29, 31, 32, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 2,
    129, 31, 1, 3, 4, 6, 7, 9, 12, 13, 14, 15, 16, 18, 19, 21, 26, 28, 29, 31, 32, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 2,
    131, 31, 1, 3, 4, 6, 7, 9, 12, 13, 14, 15, 16, 18, 19, 21, 26, 28, 29, 31, 32, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 2,
    133, 31, 1, 3, 4, 6, 7, 9, 12, 13, 14, 15, 16, 18, 19, 21, 26, 28, 29, 31, 32, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 29, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35,
    151, 1, 37, 153, 1, 50, 155, 1, 51, 3, 1, 55, 109, 2, 94, 95, 110, 2, 96, 97, 111, 2, 98, 99,
    112, 3, 100, 101, 102, 113, 2, 103, 104, 114, 2, 105, 106, 115, 2, 107, 108, 116, 2, 114, 115,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 123, 1, 143, 124, 2, 144, 145,
    125, 2, 146, 147, 31, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33,
    157, 1, 35, 151, 1, 37, 159, 1, 48, 153, 1, 50, 155, 1, 51, 3, 1, 55, 109, 2, 94, 95, 110, 2, 96, 97,
    111, 2, 98, 99, 112, 3, 100, 101, 102, 113, 2, 103, 104, 114, 2, 105, 106, 128, 2, 107, 108,
    129, 3, 109, 110, 111, 130, 1, 112, 116, 2, 114, 115,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 124, 2, 144, 145, 125, 2, 146, 147,
    13, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35, 53, 1, 50, 55, 1, 51,
    3, 1, 55, 59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185,
    131, 2, 194, 195, 2,
    161, 31, 1, 3, 4, 6, 7, 9, 12, 13, 14, 15, 16, 18, 19, 21, 26, 28, 29, 31, 32, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 24, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35, 51, 1, 37,
    53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62, 54, 3, 73, 74, 75, 56, 2, 83, 84,
    132, 2, 161, 162, 59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185,
    60, 2, 186, 187, 61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 65, 2, 200, 201,
    66, 2, 206, 207, 2,
    163, 31, 1, 3, 4, 6, 7, 9, 12, 13, 14, 15, 16, 18, 19, 21, 26, 28, 29, 31, 32, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 13, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35, 53, 1, 50,
    55, 1, 51, 3, 1, 55, 59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185,
    133, 2, 194, 195, 3, 167, 10, 1, 12, 13, 18, 28, 29, 38, 44, 45, 53, 165, 1, 4, 3, 1, 55, 3,
    171, 21, 1, 4, 6, 7, 9, 12, 13, 16, 18, 19, 26, 28, 29, 37, 38, 40, 42, 43, 44, 45, 53, 169, 1, 3, 3, 1, 55, 5,
    179, 17, 1, 4, 6, 9, 12, 13, 18, 19, 26, 28, 29, 37, 38, 43, 44, 45, 53, 173, 1, 16, 175, 1, 40, 177, 1, 42,
    3, 1, 55, 2, 181, 11, 1, 4, 12, 13, 18, 28, 29, 38, 44, 45, 53, 3, 1, 55, 3,
    185, 23, 1, 3, 4, 6, 7, 9, 12, 13, 16, 18, 19, 26, 28, 29, 37, 38, 40, 42, 43, 44, 45, 49, 53, 183, 1, 14,
    3, 1, 55, 3,
    189, 27, 1, 3, 4, 6, 7, 9, 12, 13, 14, 16, 18, 19, 26, 28, 29, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    187, 1, 21, 3, 1, 55, 8, 193, 2, 18, 44, 87, 1, 28, 191, 1, 38, 83, 1, 53, 3, 1, 55, 142, 1, 69,
    86, 5, 78, 79, 80, 81, 82, 143, 2, 148, 149, 2, 195, 11, 1, 4, 12, 13, 18, 28, 29, 38, 44, 45, 53, 3, 1, 55, 5,
    203, 28, 1, 3, 4, 6, 7, 9, 12, 13, 14, 16, 18, 19, 21, 26, 28, 29, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    197, 1, 15, 199, 1, 31, 201, 1, 32, 3, 1, 55, 3,
    207, 26, 1, 3, 4, 6, 7, 9, 12, 13, 14, 16, 18, 19, 26, 28, 29, 33, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    205, 1, 34, 3, 1, 55, 2, 209, 17, 1, 4, 6, 9, 12, 13, 18, 19, 26, 28, 29, 37, 38, 43, 44, 45, 53, 3, 1, 55, 3,
    213, 22, 1, 3, 4, 6, 7, 9, 12, 13, 16, 18, 19, 26, 28, 29, 37, 38, 40, 42, 43, 44, 45, 53, 211, 1, 49, 3, 1, 55,
    2,
    215, 28, 1, 3, 4, 6, 7, 9, 12, 13, 14, 16, 18, 19, 21, 26, 28, 29, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 4, 221, 24, 1, 3, 4, 6, 7, 9, 12, 13, 14, 16, 18, 19, 26, 28, 29, 37, 38, 40, 42, 43, 44, 45, 49, 53,
    217, 1, 33, 219, 1, 41, 3, 1, 55, 6, 231, 11, 1, 4, 12, 13, 18, 28, 29, 38, 44, 45, 53, 223, 1, 6, 225, 1, 9,
    227, 1, 26, 229, 1, 37, 3, 1, 55, 3,
    235, 20, 1, 4, 6, 9, 12, 13, 16, 18, 19, 26, 28, 29, 37, 38, 40, 42, 43, 44, 45, 53, 233, 1, 7, 3, 1, 55, 2,
    237, 2, 12, 26, 3, 1, 55, 3, 239, 1, 12, 241, 1, 26, 3, 1, 55, 4, 99, 1, 29, 191, 1, 38, 3, 1, 55,
    158, 2, 65, 66, 3, 243, 1, 19, 245, 1, 31, 3, 1, 55, 3, 247, 11, 1, 12, 13, 18, 19, 28, 29, 43, 44, 45, 53,
    223, 1, 6, 3, 1, 55, 3, 249, 3, 12, 18, 44, 191, 1, 38, 3, 1, 55, 22,
    247, 11, 1, 12, 13, 18, 19, 28, 29, 43, 44, 45, 53, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31,
    45, 1, 32, 47, 1, 33, 49, 1, 35, 53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62, 56, 2, 83, 84,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 161, 2, 200, 201, 66, 2, 206, 207, 2,
    251, 3, 12, 18, 44, 3, 1, 55, 3, 253, 2, 18, 44, 191, 1, 38, 3, 1, 55, 2, 255, 1, 10, 3, 1, 55, 2,
    257, 5, 18, 28, 38, 44, 53, 3, 1, 55, 4, 259, 1, 26, 99, 1, 29, 3, 1, 55, 164, 2, 65, 66, 2, 261, 1, 35,
    3, 1, 55, 3, 263, 1, 1, 265, 1, 45, 3, 1, 55, 2, 267, 3, 18, 28, 44, 3, 1, 55, 2, 267, 3, 18, 28, 44, 3, 1, 55,
    2, 269, 5, 18, 28, 38, 44, 53, 3, 1, 55, 4, 275, 3, 18, 28, 44, 271, 1, 38, 273, 1, 53, 3, 1, 55, 2, 277, 1, 46,
    3, 1, 55, 3, 281, 2, 18, 44, 279, 1, 53, 3, 1, 55, 2, 283, 2, 18, 44, 3, 1, 55, 2,
    285, 13, 0, 2, 8, 22, 23, 25, 30, 35, 36, 39, 50, 52, 54, 3, 1, 55, 2, 287, 1, 18, 3, 1, 55, 4, 289, 1, 6,
    291, 1, 35, 3, 1, 55, 175, 2, 155, 156, 32, 5, 1, 2, 7, 1, 8, 9, 1, 22, 11, 1, 23, 13, 1, 25, 15, 2, 30, 57,
    17, 2, 35, 68, 19, 2, 36, 72, 21, 1, 39, 293, 1, 44, 23, 2, 50, 93, 25, 1, 52, 27, 2, 54, 154, 3, 1, 55,
    14, 1, 56, 16, 1, 60, 177, 1, 67, 18, 1, 70, 20, 1, 85, 22, 1, 92, 24, 2, 150, 151, 178, 1, 152, 28, 1, 159,
    29, 1, 160, 30, 1, 169, 31, 1, 191, 32, 1, 196, 33, 1, 199, 34, 1, 202, 35, 1, 203, 36, 1, 204, 37, 1, 205, 2,
    295, 7, 1, 13, 18, 28, 44, 45, 53, 3, 1, 55, 25, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32,
    47, 1, 33, 49, 1, 35, 51, 3, 37, 58, 59, 53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62,
    54, 3, 73, 74, 75, 56, 2, 83, 84, 179, 2, 86, 87, 58, 2, 161, 162,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 65, 2, 200, 201, 66, 2, 206, 207, 25,
    35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35, 51, 3, 37, 58, 59,
    53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62, 54, 3, 73, 74, 75, 56, 2, 83, 84, 180, 2, 86, 87,
    58, 2, 161, 162, 59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185,
    60, 2, 186, 187, 61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 65, 2, 200, 201,
    66, 2, 206, 207, 21, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35,
    53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62, 56, 2, 83, 84,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 181, 2, 200, 201, 66, 2, 206, 207, 2,
    297, 1, 46, 3, 1, 55, 2, 299, 2, 18, 44, 3, 1, 55, 2,
    301, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49, 3, 1, 55,
    2, 303, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49,
    3, 1, 55, 2,
    305, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49, 3, 1, 55,
    2, 307, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49,
    3, 1, 55, 29, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35,
    151, 1, 37, 153, 1, 50, 155, 1, 51, 3, 1, 55, 109, 2, 94, 95, 110, 2, 96, 97, 111, 2, 98, 99,
    112, 3, 100, 101, 102, 113, 2, 103, 104, 114, 2, 105, 106, 183, 2, 107, 108, 116, 2, 114, 115,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 184, 1, 143, 124, 2, 144, 145,
    125, 2, 146, 147, 31, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33,
    157, 1, 35, 151, 1, 37, 309, 1, 48, 153, 1, 50, 155, 1, 51, 3, 1, 55, 109, 2, 94, 95, 110, 2, 96, 97,
    111, 2, 98, 99, 112, 3, 100, 101, 102, 113, 2, 103, 104, 114, 2, 105, 106, 128, 2, 107, 108,
    186, 3, 109, 110, 111, 187, 1, 112, 116, 2, 114, 115,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 124, 2, 144, 145, 125, 2, 146, 147,
    13, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35, 153, 1, 50,
    155, 1, 51, 3, 1, 55, 117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131,
    188, 2, 139, 140, 2,
    311, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49, 3, 1, 55,
    26, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35, 151, 1, 37,
    153, 1, 50, 155, 1, 51, 3, 1, 55, 110, 2, 96, 97, 111, 2, 98, 99, 112, 3, 100, 101, 102, 113, 2, 103, 104,
    114, 2, 105, 106, 189, 2, 114, 115,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 124, 2, 144, 145, 125, 2, 146, 147,
    2, 313, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49,
    3, 1, 55, 13, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35,
    153, 1, 50, 155, 1, 51, 3, 1, 55,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 190, 2, 139, 140, 3,
    315, 1, 4, 317, 6, 12, 23, 35, 38, 47, 48, 3, 1, 55, 3, 319, 1, 3,
    321, 15, 4, 6, 7, 9, 12, 16, 23, 26, 35, 37, 38, 40, 42, 47, 48, 3, 1, 55, 5,
    329, 11, 4, 6, 9, 12, 23, 26, 35, 37, 38, 47, 48, 323, 1, 16, 325, 1, 40, 327, 1, 42, 3, 1, 55, 2,
    331, 7, 4, 12, 23, 35, 38, 47, 48, 3, 1, 55, 3,
    335, 17, 3, 4, 6, 7, 9, 12, 16, 23, 26, 35, 37, 38, 40, 42, 47, 48, 49, 333, 1, 14, 3, 1, 55, 3,
    339, 21, 3, 4, 6, 7, 9, 12, 14, 16, 23, 26, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49, 337, 1, 21, 3, 1, 55, 4,
    341, 1, 12, 343, 1, 38, 345, 1, 47, 3, 1, 55, 2, 347, 7, 4, 12, 23, 35, 38, 47, 48, 3, 1, 55, 5,
    355, 22, 3, 4, 6, 7, 9, 12, 14, 16, 21, 23, 26, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49, 349, 1, 15,
    351, 1, 31, 353, 1, 32, 3, 1, 55, 3,
    359, 20, 3, 4, 6, 7, 9, 12, 14, 16, 23, 26, 33, 35, 37, 38, 40, 41, 42, 47, 48, 49, 357, 1, 34, 3, 1, 55, 2,
    361, 11, 4, 6, 9, 12, 23, 26, 35, 37, 38, 47, 48, 3, 1, 55, 3,
    365, 16, 3, 4, 6, 7, 9, 12, 16, 23, 26, 35, 37, 38, 40, 42, 47, 48, 363, 1, 49, 3, 1, 55, 2,
    367, 22, 3, 4, 6, 7, 9, 12, 14, 16, 21, 23, 26, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49, 3, 1, 55, 4,
    373, 18, 3, 4, 6, 7, 9, 12, 14, 16, 23, 26, 35, 37, 38, 40, 42, 47, 48, 49, 369, 1, 33, 371, 1, 41, 3, 1, 55, 3,
    375, 1, 12, 377, 1, 47, 3, 1, 55, 6, 387, 7, 4, 12, 23, 35, 38, 47, 48, 379, 1, 6, 381, 1, 9, 383, 1, 26,
    385, 1, 37, 3, 1, 55, 3, 391, 14, 4, 6, 9, 12, 16, 23, 26, 35, 37, 38, 40, 42, 47, 48, 389, 1, 7, 3, 1, 55, 3,
    311, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49,
    393, 1, 19, 3, 1, 55, 2,
    395, 31, 1, 3, 4, 6, 7, 9, 12, 13, 14, 15, 16, 18, 19, 21, 26, 28, 29, 31, 32, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 3, 397, 5, 12, 23, 35, 47, 48, 343, 1, 38, 3, 1, 55, 4, 403, 2, 12, 48, 399, 1, 23, 401, 1, 35,
    3, 1, 55, 3, 405, 1, 12, 407, 1, 48, 3, 1, 55, 2,
    409, 28, 1, 3, 4, 6, 7, 9, 12, 13, 14, 16, 18, 19, 21, 26, 28, 29, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 2, 411, 11, 1, 4, 12, 13, 18, 28, 29, 38, 44, 45, 53, 3, 1, 55, 2,
    409, 28, 1, 3, 4, 6, 7, 9, 12, 13, 14, 16, 18, 19, 21, 26, 28, 29, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 24, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35, 51, 1, 37,
    53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62, 54, 3, 73, 74, 75, 56, 2, 83, 84,
    220, 2, 161, 162, 59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185,
    60, 2, 186, 187, 61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 65, 2, 200, 201,
    66, 2, 206, 207, 17, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35,
    53, 1, 50, 55, 3, 51, 76, 77, 3, 1, 55, 56, 2, 83, 84,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    221, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 20, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31,
    45, 1, 32, 47, 1, 33, 49, 1, 35, 53, 1, 50, 55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62, 222, 2, 63, 64,
    56, 2, 83, 84, 59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185,
    60, 2, 186, 187, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 66, 2, 206, 207, 19, 35, 1, 5, 37, 1, 20,
    39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35, 53, 1, 50, 55, 3, 51, 76, 77, 3, 1, 55,
    52, 2, 61, 62, 56, 2, 83, 84,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 223, 2, 206, 207, 20, 35, 1, 5, 37, 1, 20, 39, 1, 24,
    41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35, 53, 1, 50, 55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62,
    224, 2, 63, 64, 56, 2, 83, 84,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 66, 2, 206, 207, 16, 35, 1, 5, 37, 1, 20, 39, 1, 24,
    41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35, 53, 1, 50, 55, 1, 51, 3, 1, 55, 56, 2, 83, 84,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    63, 2, 194, 195, 225, 2, 197, 198, 13, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32,
    47, 1, 33, 49, 1, 35, 53, 1, 50, 55, 1, 51, 3, 1, 55,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 226, 2, 194, 195, 25,
    35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35, 51, 1, 37,
    53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55, 227, 2, 58, 59, 52, 2, 61, 62, 54, 3, 73, 74, 75, 56, 2, 83, 84,
    58, 2, 161, 162, 59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185,
    60, 2, 186, 187, 61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 65, 2, 200, 201,
    66, 2, 206, 207, 5, 413, 2, 18, 44, 87, 1, 28, 3, 1, 55, 86, 5, 78, 79, 80, 81, 82, 228, 2, 148, 149, 2,
    413, 2, 18, 44, 3, 1, 55, 2, 415, 1, 35, 3, 1, 55, 31, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31,
    145, 1, 32, 147, 1, 33, 157, 1, 35, 151, 1, 37, 417, 1, 47, 153, 1, 50, 155, 1, 51, 3, 1, 55, 109, 2, 94, 95,
    110, 2, 96, 97, 111, 2, 98, 99, 112, 3, 100, 101, 102, 113, 2, 103, 104, 114, 2, 105, 106, 128, 2, 107, 108,
    231, 3, 109, 110, 111, 232, 1, 112, 116, 2, 114, 115,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 124, 2, 144, 145, 125, 2, 146, 147,
    28, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35, 151, 1, 37,
    153, 1, 50, 155, 1, 51, 3, 1, 55, 109, 2, 94, 95, 110, 2, 96, 97, 233, 2, 98, 99, 112, 3, 100, 101, 102,
    113, 2, 103, 104, 114, 2, 105, 106, 234, 2, 107, 108, 116, 2, 114, 115,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 124, 2, 144, 145, 125, 2, 146, 147,
    14, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35, 53, 1, 50, 55, 1, 51,
    3, 1, 55, 235, 2, 83, 84, 59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185,
    63, 2, 194, 195, 17, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35,
    53, 1, 50, 55, 1, 51, 3, 1, 55, 236, 2, 76, 77, 56, 2, 83, 84,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    63, 2, 194, 195, 64, 2, 197, 198, 15, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33,
    49, 1, 35, 53, 1, 50, 55, 1, 51, 3, 1, 55, 56, 2, 83, 84,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 237, 2, 186, 187,
    63, 2, 194, 195, 15, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35,
    53, 1, 50, 55, 1, 51, 3, 1, 55, 56, 2, 83, 84,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 238, 2, 186, 187,
    63, 2, 194, 195, 2, 419, 1, 35, 3, 1, 55, 21, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32,
    47, 1, 33, 49, 1, 35, 53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62, 56, 2, 83, 84,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 240, 2, 200, 201, 66, 2, 206, 207, 21,
    35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35, 53, 3, 50, 63, 64,
    55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62, 56, 2, 83, 84,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 241, 2, 200, 201, 66, 2, 206, 207, 2,
    421, 1, 26, 3, 1, 55, 18, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35,
    53, 1, 50, 55, 3, 51, 76, 77, 3, 1, 55, 243, 2, 61, 62, 56, 2, 83, 84,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 2, 423, 1, 35, 3, 1, 55, 23, 35, 1, 5, 37, 1, 20, 39, 1, 24,
    41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 425, 1, 35, 53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55,
    52, 2, 61, 62, 56, 2, 83, 84, 246, 2, 89, 90, 247, 1, 91,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 248, 2, 200, 201, 66, 2, 206, 207, 3,
    427, 1, 17, 429, 2, 18, 44, 3, 1, 55, 25, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32,
    47, 1, 33, 49, 1, 35, 51, 3, 37, 58, 59, 53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62,
    54, 3, 73, 74, 75, 56, 2, 83, 84, 250, 2, 86, 87, 58, 2, 161, 162,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 65, 2, 200, 201, 66, 2, 206, 207, 3,
    431, 1, 35, 3, 1, 55, 252, 1, 113, 3, 433, 11, 1, 12, 13, 18, 19, 28, 29, 43, 44, 45, 53, 223, 1, 6, 3, 1, 55, 2,
    435, 3, 12, 18, 44, 3, 1, 55, 2, 437, 1, 35, 3, 1, 55, 2, 439, 5, 18, 28, 38, 44, 53, 3, 1, 55, 2, 441, 1, 35,
    3, 1, 55, 2, 443, 1, 35, 3, 1, 55, 2, 445, 1, 35, 3, 1, 55, 5, 77, 1, 1, 79, 1, 13, 81, 1, 45, 3, 1, 55,
    257, 5, 163, 164, 165, 166, 167, 25, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33,
    49, 1, 35, 51, 3, 37, 58, 59, 53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62, 54, 3, 73, 74, 75,
    56, 2, 83, 84, 258, 2, 86, 87, 58, 2, 161, 162,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 65, 2, 200, 201, 66, 2, 206, 207, 28,
    77, 1, 1, 35, 1, 5, 447, 1, 12, 79, 1, 13, 449, 3, 18, 44, 53, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31,
    45, 1, 32, 47, 1, 33, 49, 1, 35, 81, 1, 45, 53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62,
    56, 2, 83, 84, 260, 1, 157, 261, 5, 163, 164, 165, 166, 167,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 262, 2, 200, 201, 66, 2, 206, 207, 25,
    35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35, 51, 3, 37, 58, 59,
    53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62, 54, 3, 73, 74, 75, 56, 2, 83, 84, 263, 2, 86, 87,
    58, 2, 161, 162, 59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185,
    60, 2, 186, 187, 61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 65, 2, 200, 201,
    66, 2, 206, 207, 2, 451, 13, 0, 2, 8, 22, 23, 25, 30, 35, 36, 39, 50, 52, 54, 3, 1, 55, 2, 453, 1, 35, 3, 1, 55,
    22, 455, 9, 1, 12, 13, 18, 28, 29, 44, 45, 53, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32,
    47, 1, 33, 49, 1, 35, 53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62, 56, 2, 83, 84,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 265, 2, 200, 201, 66, 2, 206, 207, 2,
    457, 9, 1, 12, 13, 18, 28, 29, 44, 45, 53, 3, 1, 55, 2, 459, 9, 1, 13, 17, 18, 28, 38, 44, 45, 53, 3, 1, 55, 3,
    461, 1, 18, 463, 1, 44, 3, 1, 55, 2, 465, 2, 18, 44, 3, 1, 55, 3, 467, 3, 12, 18, 44, 191, 1, 38, 3, 1, 55, 3,
    469, 9, 1, 12, 13, 18, 28, 29, 44, 45, 53, 191, 1, 38, 3, 1, 55, 3,
    471, 11, 1, 12, 13, 18, 19, 28, 29, 43, 44, 45, 53, 223, 1, 6, 3, 1, 55, 2, 473, 3, 12, 18, 44, 3, 1, 55, 4,
    341, 1, 12, 343, 1, 38, 475, 1, 47, 3, 1, 55, 3, 477, 1, 12, 479, 1, 47, 3, 1, 55, 2,
    481, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49, 3, 1, 55,
    4, 403, 2, 12, 48, 483, 1, 23, 401, 1, 35, 3, 1, 55, 3, 485, 1, 12, 487, 1, 48, 3, 1, 55, 2,
    489, 22, 3, 4, 6, 7, 9, 12, 14, 16, 21, 23, 26, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49, 3, 1, 55, 2,
    491, 7, 4, 12, 23, 35, 38, 47, 48, 3, 1, 55, 2,
    489, 22, 3, 4, 6, 7, 9, 12, 14, 16, 21, 23, 26, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49, 3, 1, 55, 26,
    135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35, 151, 1, 37,
    153, 1, 50, 155, 1, 51, 3, 1, 55, 110, 2, 96, 97, 111, 2, 98, 99, 112, 3, 100, 101, 102, 113, 2, 103, 104,
    114, 2, 105, 106, 274, 2, 114, 115,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 124, 2, 144, 145, 125, 2, 146, 147,
    18, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35, 153, 1, 50,
    155, 1, 51, 3, 1, 55, 113, 2, 103, 104, 114, 2, 105, 106,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    275, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 21, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27,
    143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35, 153, 1, 50, 155, 1, 51, 3, 1, 55, 110, 2, 96, 97, 276, 2, 98, 99,
    113, 2, 103, 104, 114, 2, 105, 106,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 125, 2, 146, 147, 20, 135, 1, 5, 137, 1, 20, 139, 1, 24,
    141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35, 153, 1, 50, 155, 1, 51, 3, 1, 55, 110, 2, 96, 97,
    113, 2, 103, 104, 114, 2, 105, 106,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 277, 2, 146, 147, 21, 135, 1, 5, 137, 1, 20, 139, 1, 24,
    141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35, 153, 1, 50, 155, 1, 51, 3, 1, 55, 110, 2, 96, 97,
    278, 2, 98, 99, 113, 2, 103, 104, 114, 2, 105, 106,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 125, 2, 146, 147, 16, 135, 1, 5, 137, 1, 20, 139, 1, 24,
    141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35, 153, 1, 50, 155, 1, 51, 3, 1, 55, 114, 2, 105, 106,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    121, 2, 139, 140, 279, 2, 141, 142, 13, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32,
    147, 1, 33, 149, 1, 35, 153, 1, 50, 155, 1, 51, 3, 1, 55,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 280, 2, 139, 140, 28,
    135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35, 151, 1, 37,
    153, 1, 50, 155, 1, 51, 3, 1, 55, 109, 2, 94, 95, 110, 2, 96, 97, 111, 2, 98, 99, 112, 3, 100, 101, 102,
    113, 2, 103, 104, 114, 2, 105, 106, 281, 2, 107, 108, 116, 2, 114, 115,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 124, 2, 144, 145, 125, 2, 146, 147,
    27, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35, 151, 1, 37,
    153, 1, 50, 155, 1, 51, 3, 1, 55, 282, 2, 94, 95, 110, 2, 96, 97, 111, 2, 98, 99, 112, 3, 100, 101, 102,
    113, 2, 103, 104, 114, 2, 105, 106, 116, 2, 114, 115,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 124, 2, 144, 145, 125, 2, 146, 147,
    2,
    493, 31, 1, 3, 4, 6, 7, 9, 12, 13, 14, 15, 16, 18, 19, 21, 26, 28, 29, 31, 32, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 2, 495, 1, 35, 3, 1, 55, 31, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32,
    147, 1, 33, 157, 1, 35, 151, 1, 37, 497, 1, 47, 153, 1, 50, 155, 1, 51, 3, 1, 55, 109, 2, 94, 95, 110, 2, 96, 97,
    111, 2, 98, 99, 112, 3, 100, 101, 102, 113, 2, 103, 104, 114, 2, 105, 106, 128, 2, 107, 108,
    231, 3, 109, 110, 111, 285, 1, 112, 116, 2, 114, 115,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 124, 2, 144, 145, 125, 2, 146, 147,
    28, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35, 151, 1, 37,
    153, 1, 50, 155, 1, 51, 3, 1, 55, 109, 2, 94, 95, 110, 2, 96, 97, 286, 2, 98, 99, 112, 3, 100, 101, 102,
    113, 2, 103, 104, 114, 2, 105, 106, 287, 2, 107, 108, 116, 2, 114, 115,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 124, 2, 144, 145, 125, 2, 146, 147,
    14, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35, 153, 1, 50,
    155, 1, 51, 3, 1, 55, 288, 2, 105, 106,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 121, 2, 139, 140, 17,
    135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35, 153, 1, 50,
    155, 1, 51, 3, 1, 55, 289, 2, 103, 104, 114, 2, 105, 106,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    121, 2, 139, 140, 122, 2, 141, 142, 15, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32,
    147, 1, 33, 149, 1, 35, 153, 1, 50, 155, 1, 51, 3, 1, 55, 114, 2, 105, 106,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 290, 2, 132, 133,
    121, 2, 139, 140, 15, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33,
    149, 1, 35, 153, 1, 50, 155, 1, 51, 3, 1, 55, 114, 2, 105, 106,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 291, 2, 132, 133,
    121, 2, 139, 140, 29, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33,
    149, 1, 35, 151, 1, 37, 499, 1, 47, 153, 1, 50, 155, 1, 51, 3, 1, 55, 109, 2, 94, 95, 110, 2, 96, 97,
    111, 2, 98, 99, 112, 3, 100, 101, 102, 113, 2, 103, 104, 114, 2, 105, 106, 293, 2, 107, 108, 116, 2, 114, 115,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 124, 2, 144, 145, 125, 2, 146, 147,
    2,
    501, 31, 1, 3, 4, 6, 7, 9, 12, 13, 14, 15, 16, 18, 19, 21, 26, 28, 29, 31, 32, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 2, 503, 1, 35, 3, 1, 55, 23, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32,
    147, 1, 33, 149, 1, 35, 153, 1, 50, 155, 1, 51, 3, 1, 55, 110, 2, 96, 97, 111, 2, 98, 99, 113, 2, 103, 104,
    114, 2, 105, 106, 117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131,
    118, 2, 132, 133, 119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 295, 2, 144, 145,
    125, 2, 146, 147, 23, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33,
    149, 1, 35, 153, 1, 50, 155, 1, 51, 3, 1, 55, 110, 2, 96, 97, 111, 2, 98, 99, 113, 2, 103, 104, 114, 2, 105, 106,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 296, 2, 144, 145, 125, 2, 146, 147,
    2, 505, 1, 26, 3, 1, 55, 19, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33,
    149, 1, 35, 153, 1, 50, 155, 1, 51, 3, 1, 55, 298, 2, 96, 97, 113, 2, 103, 104, 114, 2, 105, 106,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 28, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27,
    143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35, 151, 1, 37, 153, 1, 50, 155, 1, 51, 3, 1, 55, 109, 2, 94, 95,
    110, 2, 96, 97, 111, 2, 98, 99, 112, 3, 100, 101, 102, 113, 2, 103, 104, 114, 2, 105, 106, 299, 2, 107, 108,
    116, 2, 114, 115, 117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131,
    118, 2, 132, 133, 119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 124, 2, 144, 145,
    125, 2, 146, 147, 2, 507, 1, 35, 3, 1, 55, 23, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31,
    145, 1, 32, 147, 1, 33, 149, 1, 35, 153, 1, 50, 155, 1, 51, 3, 1, 55, 110, 2, 96, 97, 111, 2, 98, 99,
    113, 2, 103, 104, 114, 2, 105, 106,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 301, 2, 144, 145, 125, 2, 146, 147,
    30, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 157, 1, 35, 151, 1, 37,
    509, 1, 48, 153, 1, 50, 155, 1, 51, 3, 1, 55, 109, 2, 94, 95, 110, 2, 96, 97, 111, 2, 98, 99,
    112, 3, 100, 101, 102, 113, 2, 103, 104, 114, 2, 105, 106, 128, 2, 107, 108, 303, 3, 109, 110, 111,
    116, 2, 114, 115, 117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131,
    118, 2, 132, 133, 119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 124, 2, 144, 145,
    125, 2, 146, 147, 2,
    511, 31, 1, 3, 4, 6, 7, 9, 12, 13, 14, 15, 16, 18, 19, 21, 26, 28, 29, 31, 32, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 2, 513, 11, 1, 4, 12, 13, 18, 28, 29, 38, 44, 45, 53, 3, 1, 55, 3,
    515, 22, 1, 3, 4, 6, 7, 9, 12, 13, 16, 18, 19, 26, 28, 29, 37, 38, 40, 42, 43, 44, 45, 53, 211, 1, 49, 3, 1, 55,
    3, 517, 17, 1, 4, 6, 9, 12, 13, 18, 19, 26, 28, 29, 37, 38, 43, 44, 45, 53, 175, 1, 40, 3, 1, 55, 3,
    519, 20, 1, 4, 6, 9, 12, 13, 16, 18, 19, 26, 28, 29, 37, 38, 40, 42, 43, 44, 45, 53, 233, 1, 7, 3, 1, 55, 3,
    521, 17, 1, 4, 6, 9, 12, 13, 18, 19, 26, 28, 29, 37, 38, 43, 44, 45, 53, 175, 1, 40, 3, 1, 55, 4,
    523, 24, 1, 3, 4, 6, 7, 9, 12, 13, 14, 16, 18, 19, 26, 28, 29, 37, 38, 40, 42, 43, 44, 45, 49, 53, 217, 1, 33,
    219, 1, 41, 3, 1, 55, 2,
    525, 28, 1, 3, 4, 6, 7, 9, 12, 13, 14, 16, 18, 19, 21, 26, 28, 29, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 3, 527, 10, 1, 12, 13, 18, 28, 29, 38, 44, 45, 53, 165, 1, 4, 3, 1, 55, 2, 529, 2, 18, 44, 3, 1, 55, 2,
    531, 31, 1, 3, 4, 6, 7, 9, 12, 13, 14, 15, 16, 18, 19, 21, 26, 28, 29, 31, 32, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 2,
    533, 31, 1, 3, 4, 6, 7, 9, 12, 13, 14, 15, 16, 18, 19, 21, 26, 28, 29, 31, 32, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 3, 403, 2, 12, 47, 401, 1, 35, 3, 1, 55, 3, 535, 1, 12, 537, 1, 47, 3, 1, 55, 5,
    329, 7, 4, 6, 9, 26, 37, 38, 48, 539, 1, 16, 325, 1, 40, 327, 1, 42, 3, 1, 55, 3, 343, 1, 38, 541, 1, 48,
    3, 1, 55, 3,
    543, 27, 1, 3, 4, 6, 7, 9, 12, 13, 14, 16, 18, 19, 26, 28, 29, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    187, 1, 21, 3, 1, 55, 3,
    545, 23, 1, 3, 4, 6, 7, 9, 12, 13, 16, 18, 19, 26, 28, 29, 37, 38, 40, 42, 43, 44, 45, 49, 53, 183, 1, 14,
    3, 1, 55, 3,
    547, 26, 1, 3, 4, 6, 7, 9, 12, 13, 14, 16, 18, 19, 26, 28, 29, 33, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    205, 1, 34, 3, 1, 55, 3,
    547, 26, 1, 3, 4, 6, 7, 9, 12, 13, 14, 16, 18, 19, 26, 28, 29, 33, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    205, 1, 34, 3, 1, 55, 20, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35,
    53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62, 56, 2, 83, 84,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    308, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 66, 2, 206, 207, 3,
    549, 11, 1, 4, 12, 13, 18, 28, 29, 38, 44, 45, 53, 223, 1, 6, 3, 1, 55, 3,
    549, 11, 1, 4, 12, 13, 18, 28, 29, 38, 44, 45, 53, 223, 1, 6, 3, 1, 55, 21, 35, 1, 5, 37, 1, 20, 39, 1, 24,
    41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35, 53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55,
    52, 2, 61, 62, 56, 2, 83, 84,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 309, 2, 200, 201, 66, 2, 206, 207, 3,
    551, 21, 1, 4, 6, 7, 9, 12, 13, 16, 18, 19, 26, 28, 29, 37, 38, 40, 42, 43, 44, 45, 53, 169, 1, 3, 3, 1, 55, 2,
    553, 2, 12, 26, 3, 1, 55, 3, 161, 18, 3, 6, 7, 12, 14, 15, 16, 18, 21, 31, 32, 33, 34, 40, 41, 42, 44, 49,
    555, 1, 11, 3, 1, 55, 2, 557, 3, 12, 18, 44, 3, 1, 55, 3, 559, 1, 12, 561, 2, 18, 44, 3, 1, 55, 3, 223, 1, 6,
    563, 3, 12, 18, 44, 3, 1, 55, 5, 13, 1, 25, 99, 1, 29, 3, 1, 55, 312, 2, 65, 66, 313, 1, 93, 3, 565, 2, 18, 44,
    191, 1, 38, 3, 1, 55, 2, 567, 2, 12, 47, 3, 1, 55, 3, 569, 1, 12, 571, 1, 47, 3, 1, 55, 2, 573, 1, 35, 3, 1, 55,
    3, 577, 5, 18, 28, 38, 44, 53, 575, 1, 35, 3, 1, 55, 2, 579, 3, 18, 28, 44, 3, 1, 55, 2, 579, 3, 18, 28, 44,
    3, 1, 55, 2, 581, 5, 18, 28, 38, 44, 53, 3, 1, 55, 3, 583, 3, 18, 28, 44, 191, 1, 38, 3, 1, 55, 4, 289, 1, 6,
    291, 1, 35, 3, 1, 55, 318, 2, 155, 156, 3, 585, 1, 12, 587, 3, 18, 44, 53, 3, 1, 55, 2, 589, 3, 18, 44, 53,
    3, 1, 55, 5, 223, 1, 6, 447, 1, 12, 591, 3, 18, 44, 53, 3, 1, 55, 320, 1, 157, 3, 593, 2, 18, 44, 191, 1, 38,
    3, 1, 55, 20, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35,
    53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62, 56, 2, 83, 84,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    321, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 66, 2, 206, 207, 3,
    595, 9, 1, 12, 13, 18, 28, 29, 44, 45, 53, 223, 1, 6, 3, 1, 55, 31, 5, 1, 2, 7, 1, 8, 9, 1, 22, 11, 1, 23,
    13, 1, 25, 15, 2, 30, 57, 17, 2, 35, 68, 19, 2, 36, 72, 21, 1, 39, 597, 1, 44, 23, 2, 50, 93, 25, 1, 52,
    27, 2, 54, 154, 3, 1, 55, 14, 1, 56, 16, 1, 60, 18, 1, 70, 20, 1, 85, 22, 1, 92, 24, 2, 150, 151, 323, 1, 152,
    28, 1, 159, 29, 1, 160, 30, 1, 169, 31, 1, 191, 32, 1, 196, 33, 1, 199, 34, 1, 202, 35, 1, 203, 36, 1, 204,
    37, 1, 205, 2, 599, 9, 1, 13, 17, 18, 28, 38, 44, 45, 53, 3, 1, 55, 2,
    601, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49, 3, 1, 55,
    29, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35, 151, 1, 37,
    603, 1, 47, 153, 1, 50, 155, 1, 51, 3, 1, 55, 109, 2, 94, 95, 110, 2, 96, 97, 111, 2, 98, 99,
    112, 3, 100, 101, 102, 113, 2, 103, 104, 114, 2, 105, 106, 293, 2, 107, 108, 116, 2, 114, 115,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 124, 2, 144, 145, 125, 2, 146, 147,
    2, 605, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49,
    3, 1, 55, 2, 607, 1, 35, 3, 1, 55, 30, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32,
    147, 1, 33, 157, 1, 35, 151, 1, 37, 609, 1, 48, 153, 1, 50, 155, 1, 51, 3, 1, 55, 109, 2, 94, 95, 110, 2, 96, 97,
    111, 2, 98, 99, 112, 3, 100, 101, 102, 113, 2, 103, 104, 114, 2, 105, 106, 128, 2, 107, 108,
    303, 3, 109, 110, 111, 116, 2, 114, 115,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 124, 2, 144, 145, 125, 2, 146, 147,
    2, 611, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49,
    3, 1, 55, 2, 613, 7, 4, 12, 23, 35, 38, 47, 48, 3, 1, 55, 3,
    615, 16, 3, 4, 6, 7, 9, 12, 16, 23, 26, 35, 37, 38, 40, 42, 47, 48, 363, 1, 49, 3, 1, 55, 3,
    617, 11, 4, 6, 9, 12, 23, 26, 35, 37, 38, 47, 48, 325, 1, 40, 3, 1, 55, 3,
    619, 14, 4, 6, 9, 12, 16, 23, 26, 35, 37, 38, 40, 42, 47, 48, 389, 1, 7, 3, 1, 55, 3,
    621, 11, 4, 6, 9, 12, 23, 26, 35, 37, 38, 47, 48, 325, 1, 40, 3, 1, 55, 4,
    623, 18, 3, 4, 6, 7, 9, 12, 14, 16, 23, 26, 35, 37, 38, 40, 42, 47, 48, 49, 369, 1, 33, 371, 1, 41, 3, 1, 55, 2,
    625, 22, 3, 4, 6, 7, 9, 12, 14, 16, 21, 23, 26, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49, 3, 1, 55, 3,
    627, 2, 12, 47, 343, 1, 38, 3, 1, 55, 3, 315, 1, 4, 629, 6, 12, 23, 35, 38, 47, 48, 3, 1, 55, 2,
    631, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49, 3, 1, 55,
    2, 633, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49,
    3, 1, 55, 3, 635, 1, 12, 637, 1, 47, 3, 1, 55, 5, 329, 7, 4, 6, 9, 26, 37, 38, 48, 639, 1, 16, 325, 1, 40,
    327, 1, 42, 3, 1, 55, 3, 343, 1, 38, 641, 1, 48, 3, 1, 55, 3,
    643, 21, 3, 4, 6, 7, 9, 12, 14, 16, 23, 26, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49, 337, 1, 21, 3, 1, 55, 3,
    645, 17, 3, 4, 6, 7, 9, 12, 16, 23, 26, 35, 37, 38, 40, 42, 47, 48, 49, 333, 1, 14, 3, 1, 55, 3,
    647, 20, 3, 4, 6, 7, 9, 12, 14, 16, 23, 26, 33, 35, 37, 38, 40, 41, 42, 47, 48, 49, 357, 1, 34, 3, 1, 55, 3,
    647, 20, 3, 4, 6, 7, 9, 12, 14, 16, 23, 26, 33, 35, 37, 38, 40, 41, 42, 47, 48, 49, 357, 1, 34, 3, 1, 55, 2,
    649, 31, 1, 3, 4, 6, 7, 9, 12, 13, 14, 15, 16, 18, 19, 21, 26, 28, 29, 31, 32, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 3, 627, 2, 12, 47, 343, 1, 38, 3, 1, 55, 22, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31,
    145, 1, 32, 147, 1, 33, 149, 1, 35, 153, 1, 50, 155, 1, 51, 3, 1, 55, 110, 2, 96, 97, 111, 2, 98, 99,
    113, 2, 103, 104, 114, 2, 105, 106,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    331, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 125, 2, 146, 147, 3,
    651, 7, 4, 12, 23, 35, 38, 47, 48, 379, 1, 6, 3, 1, 55, 3, 651, 7, 4, 12, 23, 35, 38, 47, 48, 379, 1, 6,
    3, 1, 55, 23, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35,
    153, 1, 50, 155, 1, 51, 3, 1, 55, 110, 2, 96, 97, 111, 2, 98, 99, 113, 2, 103, 104, 114, 2, 105, 106,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 332, 2, 144, 145, 125, 2, 146, 147,
    3, 319, 1, 3, 653, 15, 4, 6, 7, 9, 12, 16, 23, 26, 35, 37, 38, 40, 42, 47, 48, 3, 1, 55, 3,
    655, 5, 12, 23, 35, 47, 48, 343, 1, 38, 3, 1, 55, 2, 657, 1, 26, 3, 1, 55, 3, 379, 1, 6,
    659, 5, 12, 23, 35, 47, 48, 3, 1, 55, 2,
    661, 31, 1, 3, 4, 6, 7, 9, 12, 13, 14, 15, 16, 18, 19, 21, 26, 28, 29, 31, 32, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 3, 663, 3, 12, 47, 48, 401, 1, 35, 3, 1, 55, 30, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27,
    143, 1, 31, 145, 1, 32, 147, 1, 33, 157, 1, 35, 151, 1, 37, 665, 1, 47, 153, 1, 50, 155, 1, 51, 3, 1, 55,
    109, 2, 94, 95, 110, 2, 96, 97, 111, 2, 98, 99, 112, 3, 100, 101, 102, 113, 2, 103, 104, 114, 2, 105, 106,
    128, 2, 107, 108, 303, 3, 109, 110, 111, 116, 2, 114, 115,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 124, 2, 144, 145, 125, 2, 146, 147,
    2,
    667, 31, 1, 3, 4, 6, 7, 9, 12, 13, 14, 15, 16, 18, 19, 21, 26, 28, 29, 31, 32, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 22, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35,
    669, 1, 48, 153, 1, 50, 155, 1, 51, 3, 1, 55, 110, 2, 96, 97, 276, 2, 98, 99, 113, 2, 103, 104, 114, 2, 105, 106,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 125, 2, 146, 147, 2,
    671, 31, 1, 3, 4, 6, 7, 9, 12, 13, 14, 15, 16, 18, 19, 21, 26, 28, 29, 31, 32, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 2, 673, 17, 1, 4, 6, 9, 12, 13, 18, 19, 26, 28, 29, 37, 38, 43, 44, 45, 53, 3, 1, 55, 3,
    675, 11, 1, 4, 12, 13, 18, 28, 29, 38, 44, 45, 53, 223, 1, 6, 3, 1, 55, 21, 35, 1, 5, 37, 1, 20, 39, 1, 24,
    41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35, 53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55,
    52, 2, 61, 62, 56, 2, 83, 84,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 336, 2, 200, 201, 66, 2, 206, 207, 22,
    35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 425, 1, 35, 53, 3, 50, 63, 64,
    55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62, 56, 2, 83, 84, 337, 2, 89, 90,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 248, 2, 200, 201, 66, 2, 206, 207, 2,
    677, 2, 18, 44, 3, 1, 55, 2, 677, 2, 18, 44, 3, 1, 55, 2, 679, 1, 35, 3, 1, 55, 2, 681, 1, 19, 3, 1, 55, 3,
    99, 1, 29, 3, 1, 55, 340, 2, 65, 66, 21, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32,
    47, 1, 33, 49, 1, 35, 53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62, 56, 2, 83, 84,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 341, 2, 200, 201, 66, 2, 206, 207, 2,
    683, 4, 12, 18, 44, 53, 3, 1, 55, 4, 289, 1, 6, 291, 1, 35, 3, 1, 55, 342, 2, 155, 156, 3, 585, 1, 12,
    685, 3, 18, 44, 53, 3, 1, 55, 2, 687, 9, 1, 12, 13, 18, 28, 29, 44, 45, 53, 3, 1, 55, 2,
    689, 9, 1, 13, 17, 18, 28, 38, 44, 45, 53, 3, 1, 55, 2, 691, 2, 18, 44, 3, 1, 55, 2,
    693, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49, 3, 1, 55,
    2, 695, 1, 26, 3, 1, 55, 2,
    697, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49, 3, 1, 55,
    30, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 157, 1, 35, 151, 1, 37,
    699, 1, 47, 153, 1, 50, 155, 1, 51, 3, 1, 55, 109, 2, 94, 95, 110, 2, 96, 97, 111, 2, 98, 99,
    112, 3, 100, 101, 102, 113, 2, 103, 104, 114, 2, 105, 106, 128, 2, 107, 108, 303, 3, 109, 110, 111,
    116, 2, 114, 115, 117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131,
    118, 2, 132, 133, 119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 124, 2, 144, 145,
    125, 2, 146, 147, 2,
    701, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49, 3, 1, 55,
    22, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35, 703, 1, 48,
    153, 1, 50, 155, 1, 51, 3, 1, 55, 110, 2, 96, 97, 276, 2, 98, 99, 113, 2, 103, 104, 114, 2, 105, 106,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 125, 2, 146, 147, 2,
    705, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49, 3, 1, 55,
    2, 707, 11, 4, 6, 9, 12, 23, 26, 35, 37, 38, 47, 48, 3, 1, 55, 3, 709, 7, 4, 12, 23, 35, 38, 47, 48, 379, 1, 6,
    3, 1, 55, 23, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32, 147, 1, 33, 149, 1, 35,
    153, 1, 50, 155, 1, 51, 3, 1, 55, 110, 2, 96, 97, 111, 2, 98, 99, 113, 2, 103, 104, 114, 2, 105, 106,
    117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 118, 2, 132, 133,
    119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 346, 2, 144, 145, 125, 2, 146, 147,
    2,
    711, 31, 1, 3, 4, 6, 7, 9, 12, 13, 14, 15, 16, 18, 19, 21, 26, 28, 29, 31, 32, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 2,
    713, 31, 1, 3, 4, 6, 7, 9, 12, 13, 14, 15, 16, 18, 19, 21, 26, 28, 29, 31, 32, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 3, 223, 1, 6, 715, 3, 12, 18, 44, 3, 1, 55, 2, 717, 3, 12, 18, 44, 3, 1, 55, 2, 719, 2, 12, 47,
    3, 1, 55, 25, 35, 1, 5, 37, 1, 20, 39, 1, 24, 41, 1, 27, 43, 1, 31, 45, 1, 32, 47, 1, 33, 49, 1, 35,
    51, 3, 37, 58, 59, 53, 3, 50, 63, 64, 55, 3, 51, 76, 77, 3, 1, 55, 52, 2, 61, 62, 54, 3, 73, 74, 75,
    56, 2, 83, 84, 347, 2, 86, 87, 58, 2, 161, 162,
    59, 16, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 60, 2, 186, 187,
    61, 3, 188, 189, 190, 62, 2, 192, 193, 63, 2, 194, 195, 64, 2, 197, 198, 65, 2, 200, 201, 66, 2, 206, 207, 2,
    721, 5, 18, 28, 38, 44, 53, 3, 1, 55, 3, 223, 1, 6, 723, 5, 18, 28, 38, 44, 53, 3, 1, 55, 2,
    725, 4, 12, 18, 44, 53, 3, 1, 55, 23, 135, 1, 5, 137, 1, 20, 139, 1, 24, 141, 1, 27, 143, 1, 31, 145, 1, 32,
    147, 1, 33, 149, 1, 35, 153, 1, 50, 155, 1, 51, 3, 1, 55, 110, 2, 96, 97, 111, 2, 98, 99, 113, 2, 103, 104,
    114, 2, 105, 106, 117, 16, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131,
    118, 2, 132, 133, 119, 3, 134, 135, 136, 120, 2, 137, 138, 121, 2, 139, 140, 122, 2, 141, 142, 348, 2, 144, 145,
    125, 2, 146, 147, 2,
    727, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49, 3, 1, 55,
    2, 729, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49,
    3, 1, 55, 3, 379, 1, 6, 731, 1, 48, 3, 1, 55, 3, 733, 2, 18, 44, 191, 1, 38, 3, 1, 55, 3, 379, 1, 6, 735, 1, 48,
    3, 1, 55, 2,
    737, 31, 1, 3, 4, 6, 7, 9, 12, 13, 14, 15, 16, 18, 19, 21, 26, 28, 29, 31, 32, 33, 34, 37, 38, 40, 41, 42, 43, 44, 45, 49, 53,
    3, 1, 55, 2,
    739, 25, 3, 4, 6, 7, 9, 12, 14, 15, 16, 21, 23, 26, 31, 32, 33, 34, 35, 37, 38, 40, 41, 42, 47, 48, 49, 3, 1, 55,
};

static const uint32_t small_parse_table_map[] = {
    0, 7, 14, 125, 135, 246, 253, 357, 468, 475, 483, 490, 601, 609, 620, 635, 668, 676, 696, 704, 711, 719, 727,
    735, 742, 842, 865, 873, 884, 905, 913, 921, 929, 946, 954, 965, 973, 982, 993, 1030, 1067, 1104, 1141, 1261,
    1389, 1445, 1482, 1587, 1624, 1680, 1699, 1729, 1761, 1778, 1810, 1846, 1877, 1894, 1937, 1972, 1995, 2026, 2060,
    2096, 2125, 2154, 2162, 2172, 2186, 2196, 2216, 2228, 2334, 2343, 2354, 2361, 2372, 2386, 2393, 2403, 2412, 2421,
    2432, 2447, 2454, 2465, 2473, 2492, 2499, 2513, 2616, 2629, 2740, 2851, 2944, 2951, 2959, 2990, 3021, 3052, 3083,
    3203, 3331, 3387, 3418, 3527, 3558, 3614, 3629, 3653, 3679, 3692, 3718, 3748, 3761, 3774, 3811, 3840, 3857, 3882,
    3910, 3940, 3950, 3975, 3998, 4032, 4069, 4083, 4097, 4107, 4141, 4158, 4192, 4297, 4371, 4457, 4539, 4625, 4693,
    4749, 4858, 4880, 4888, 4895, 5023, 5140, 5200, 5272, 5336, 5400, 5407, 5500, 5593, 5600, 5678, 5685, 5785, 5796,
    5907, 5917, 5937, 5946, 5953, 5964, 5971, 5978, 5985, 6005, 6116, 6236, 6347, 6366, 6373, 6477, 6492, 6507, 6517,
    6525, 6537, 6555, 6575, 6584, 6597, 6607, 6638, 6652, 6662, 6690, 6703, 6731, 6840, 6916, 7004, 7088, 7176, 7244,
    7300, 7417, 7530, 7567, 7574, 7702, 7819, 7879, 7951, 8015, 8079, 8199, 8236, 8243, 8340, 8437, 8444, 8524, 8641,
    8648, 8745, 8870, 8907, 8924, 8955, 8981, 9010, 9036, 9072, 9106, 9125, 9133, 9170, 9207, 9218, 9228, 9250, 9260,
    9296, 9328, 9363, 9398, 9487, 9507, 9527, 9620, 9650, 9658, 9685, 9694, 9705, 9717, 9734, 9745, 9753, 9763, 9770,
    9784, 9793, 9802, 9813, 9825, 9839, 9851, 9860, 9878, 9889, 9978, 9996, 10096, 10111, 10142, 10262, 10293, 10300,
    10425, 10456, 10469, 10494, 10514, 10537, 10557, 10587, 10615, 10626, 10641, 10672, 10703, 10713, 10735, 10745,
    10775, 10801, 10830, 10859, 10896, 10907, 11000, 11016, 11032, 11129, 11153, 11167, 11174, 11188, 11225, 11237,
    11362, 11399, 11490, 11527, 11550, 11570, 11663, 11760, 11768, 11776, 11783, 11790, 11801, 11894, 11904, 11918,
    11930, 11945, 11960, 11968, 11999, 12006, 12037, 12162, 12193, 12284, 12315, 12332, 12348, 12445, 12482, 12519,
    12531, 12540, 12548, 12659, 12670, 12684, 12694, 12791, 12822, 12853, 12863, 12874, 12884, 12921,
};

static const ActionEntry parse_actions[] = {
    {.entry = {0, false}}, {.entry = {1, false}}, {.action.type = RECOVER},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 0, true, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 2, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 3, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 4, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 5, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 6, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 7, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 8, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 9, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 10, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 11, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 12, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 13, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 0, 88, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 38, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 39, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 40, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 41, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 42, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 43, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 44, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 45, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 46, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 47, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 48, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 49, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 50, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 67, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 70, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 202, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 73, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 199, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 74, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 152, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 76, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 56, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 154, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 77, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 78, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 79, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 80, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 72, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 85, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 191, 0, 0}}, {.entry = {1, false}}, {.action.type = ACCEPT},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 88, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 88, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 90, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 91, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 68, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 93, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 159, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 94, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 95, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 60, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 196, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 169, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 96, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 203, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 57, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 97, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 70, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 170, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 175, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 177, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 182, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 98, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 99, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 100, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 101, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 102, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 103, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 104, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 105, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 106, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 107, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 108, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 126, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 127, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 183, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 184, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 134, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 86, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 135, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 206, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 136, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 137, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 138, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 188, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 161, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 139, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 192, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 140, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 186, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 141, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 85, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 58, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 144, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 145, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 146, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 194, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 147, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 197, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 200, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 148, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 61, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 83, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 149, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 150, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 76, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 151, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 152, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 153, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 154, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 73, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 155, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 63, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 158, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 156, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 157, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 159, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 160, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 202, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 160, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 204, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 205, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 162, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 163, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 163, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 165, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 166, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 167, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 72, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 168, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 168, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 169, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 71, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 170, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 171, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 148, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 191, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 153, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 172, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 173, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 174, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 176, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 68, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 182, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 70, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 116, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 121, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 123, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 128, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 185, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 129, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 130, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 191, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 107, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 192, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 146, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 193, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 194, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 195, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 134, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 114, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 196, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 137, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 197, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 132, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 198, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 199, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 200, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 94, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 201, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 202, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 203, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 139, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 204, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 141, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 144, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 205, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 96, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 105, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 206, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 207, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 103, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 208, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 209, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 210, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 211, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 212, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 213, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 100, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 214, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 98, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 215, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 180, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 109, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 216, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 217, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 112, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 218, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 219, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 195, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 162, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 85, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 229, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 230, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 239, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 242, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 244, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 245, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 249, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 93, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 251, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 202, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 57, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 253, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 164, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 254, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 255, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 256, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 259, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 78, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 153, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 264, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 155, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 154, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 66, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 266, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 267, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 67, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 160, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 60, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 169, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 204, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 268, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 269, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 270, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 126, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 271, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 272, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 273, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 140, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 115, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 176, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 283, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 284, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 292, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 185, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 294, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 297, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 300, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 302, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 181, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 59, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 62, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 189, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 64, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 190, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 77, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 84, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 87, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 4, 85, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 171, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 173, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 304, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 305, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 306, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 307, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 187, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 193, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 198, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 74, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 207, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 158, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 310, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 91, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 311, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 4, 92, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 89, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 4, 151, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 1, 113, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 314, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 315, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 316, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 317, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 166, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 69, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 168, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 71, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 319, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 79, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 80, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 81, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 149, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 155, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 322, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 65, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 122, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 324, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 131, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 325, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 326, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 127, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 95, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 97, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 135, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 99, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 136, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 104, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 106, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 143, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 108, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 117, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 119, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 327, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 328, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 329, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 330, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 133, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 138, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 142, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 4, 185, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 101, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 147, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 110, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 333, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 111, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 4, 181, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 112, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 334, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 4, 172, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 335, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 4, 178, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 4, 201, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 4, 75, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 5, 93, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 338, false, false}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 339, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 2, 157, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 4, 82, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 156, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 4, 65, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 67, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 4, 131, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 343, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 4, 127, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 344, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 4, 118, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 345, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 4, 124, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 4, 145, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 4, 102, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 5, 172, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 5, 179, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 90, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 91, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 113, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 5, 165, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 5, 167, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 3, 157, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 5, 118, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 5, 125, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 349, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 7, 150, 0, 0}},
    {.entry = {1, false}}, {.action.shift = {SHIFT, 350, false, false}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 7, 174, 0, 0}},
    {.entry = {1, false}}, {.action.reduce = {REDUCE, 7, 120, 0, 0}},
};

static const LexMode lex_modes[] = {
    {RECOVERY, 0}, {OPEN, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0},
    {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0},
    {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0},
    {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {OPEN, 0}, {STATEMENT, 0},
    {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0},
    {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0},
    {STATEMENT, 0}, {STATEMENT, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {STATEMENT, 0}, {INSIDE, 0},
    {STATEMENT, 0}, {INSIDE, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0},
    {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0},
    {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0},
    {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {INSIDE, 0},
    {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {INSIDE, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0},
    {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {OPEN, 0}, {STATEMENT, 0}, {INSIDE, 0},
    {OPEN, 0}, {STATEMENT, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {STATEMENT, 0}, {INSIDE, 0},
    {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0},
    {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0},
    {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0},
    {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {STATEMENT, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0},
    {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0},
    {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0},
    {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0},
    {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {STATEMENT, 0}, {INSIDE, 0}, {INSIDE, 0}, {STATEMENT, 0}, {STATEMENT, 0},
    {INSIDE, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {INSIDE, 0}, {INSIDE, 0},
    {STATEMENT, 0}, {INSIDE, 0}, {OPEN, 0}, {INSIDE, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0},
    {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {INSIDE, 0},
    {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0},
    {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0},
    {STATEMENT, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0},
    {INSIDE, 0}, {STATEMENT, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0},
    {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0},
    {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0},
    {STATEMENT, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {STATEMENT, 0}, {STATEMENT, 0},
    {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {INSIDE, 0}, {STATEMENT, 0},
    {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0},
    {INSIDE, 0}, {INSIDE, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0},
    {STATEMENT, 0}, {INSIDE, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0},
    {STATEMENT, 0}, {OPEN, 0}, {STATEMENT, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0},
    {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0},
    {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0},
    {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {STATEMENT, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0},
    {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {STATEMENT, 0}, {INSIDE, 0}, {INSIDE, 0},
    {STATEMENT, 0}, {INSIDE, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {INSIDE, 0},
    {STATEMENT, 0}, {STATEMENT, 0}, {INSIDE, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0},
    {INSIDE, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {INSIDE, 0}, {INSIDE, 0},
    {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0},
    {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {STATEMENT, 0}, {INSIDE, 0}, {INSIDE, 0}, {STATEMENT, 0},
    {STATEMENT, 0}, {STATEMENT, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {INSIDE, 0}, {STATEMENT, 0}, {INSIDE, 0},
    {STATEMENT, 0}, {INSIDE, 0},
};

static const State primary_state_ids[] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
    31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58,
    59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86,
    87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111,
    112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133,
    134, 135, 136, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155,
    156, 157, 158, 159, 160, 161, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 174, 175, 176, 177,
    178, 179, 180, 181, 182, 183, 184, 185, 186, 187, 188, 189, 190, 191, 192, 193, 194, 195, 196, 197, 198, 199,
    200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210, 211, 212, 213, 214, 215, 216, 217, 218, 219, 220, 221,
    222, 223, 224, 225, 226, 227, 228, 229, 230, 231, 232, 233, 234, 235, 236, 237, 238, 239, 240, 241, 242, 243,
    244, 245, 246, 247, 248, 249, 250, 251, 252, 253, 254, 255, 256, 257, 258, 259, 260, 261, 262, 263, 264, 265,
    266, 267, 268, 269, 270, 271, 272, 273, 274, 275, 276, 277, 278, 279, 280, 281, 282, 283, 284, 285, 286, 287,
    288, 289, 290, 291, 292, 293, 294, 295, 296, 297, 298, 299, 300, 301, 302, 303, 304, 305, 306, 307, 308, 309,
    310, 311, 312, 313, 314, 315, 316, 317, 318, 319, 320, 321, 322, 323, 324, 325, 326, 327, 328, 329, 330, 331,
    332, 333, 334, 335, 336, 337, 338, 339, 340, 341, 342, 343, 344, 345, 346, 347, 348, 349, 350,
};

static const char *const field_names[] = {0};
static const uint16_t alias_map[] = {0};
static const Symbol alias_sequences[1] = {0};

static const Language language = {
    .version = 14,
    .symbol_count = 208,
    .token_count = 56,
    .state_count = 351,
    .large_state_count = 2,
    .production_id_count = 1,
    .parse_table = &parse_table[0][0],
    .small_parse_table = small_parse_table,
    .small_parse_table_map = small_parse_table_map,
    .parse_actions = parse_actions,
    .symbol_names = symbol_names,
    .field_names = field_names,
    .symbol_metadata = symbol_metadata,
    .public_symbol_map = public_symbol_map,
    .alias_map = alias_map,
    .alias_sequences = alias_sequences,
    .lex_modes = lex_modes,
    .lex_fn = lex,
    .primary_state_ids = primary_state_ids,
};

#ifdef _WIN32
__declspec(dllexport)
#endif
const Language *tree_sitter_mks(void) {
    return &language;
}
