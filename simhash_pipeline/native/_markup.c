/* UTF-8 markup in; its blocks, outline, head and titles out, without a tree. A part of _kernel.c.
 *
 * libxml2 2.14 cuts tags as HTML5 does, but keeps a plain stack: no element is moved, none is opened again. So the
 * open elements are all that has to be known, and what is read of a tree is read here as it grows. parse.py,
 * blocks.py, structure.py and titles.py are the reference: this gives the same answers, or the
 * rule that the page breaks, and then they are asked. Tables and bounds come from page/compiled.py, once; what a page
 * adds is freed with it.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>

#include "_murmur3.h"

PyObject *set_markup(PyObject *, PyObject *), *read_markup(PyObject *, PyObject *); /* for _kernel.c */

enum { INLINE = 0, LINK, BREAK, HIDDEN, BLOCK, BOX };        /* what a tag is to blocks.py */
enum { IS_NODE = 0, IS_INLINE, IS_LEAF, IS_LEFT_OUT };       /* and to structure.py */
enum { MARKUP = 0, ESCAPABLE, RAW, SCRIPT, PLAINTEXT };      /* and what its elements hold, as in compiled.py */
enum { HTML = 0, HEAD, BODY, DIV, P, TITLE, H1, META, A };   /* numbers of tags */
enum { CLASS = 0, ID, ROLE_NAME, STYLE, HIDE, ARIA, HREF, NAME, REL, PROPERTY, SAYS, ATTRIBUTES };
enum { IN_TEXT = 0, IN_VALUE, IN_RAW };                      /* where a text stands */
enum { BEFORE_BODY = 0, IN_FRONT, IN_BODY };                 /* front: what the head should not hold */
enum { PLAIN = 0, ESCAPED, TWICE_ESCAPED };                  /* states of a script */
enum { TEXTS = 0, TAGS, SIZES, SHARES, BOXES, HINTS, HIDDEN_TEXTS, ROWS, TITLES, OG_TITLES, HEADINGS, LISTS };
/* The traits of a tag, as compiled.py packs them: kind, role, these, what its elements hold, and its rank. */
enum {
    KIND = 7, ROLE_SHIFT = 3, ROLE = 3, HINTED = 1 << 5, IS_VOID = 1 << 6, IS_METADATA = 1 << 7, OPENS_HEAD = 1 << 8,
    OPENS_NO_BODY = 1 << 9, HOLDS_SHIFT = 10, HOLDS = 7, RANK_SHIFT = 13, RANK = 7,
};
#define SURE NULL
#define NOBODY 0xFFFFFFFFu
#define MAX_CLASHES 10000000 /* slots that were taken; a page that chooses its names gets no more */
#define MAX_CODE 0x10FFFFu
#define TAG_ROOM 99 /* bytes of a tag's name; libxml2 cuts what is longer */
#define CLASS_ROOM 500
#define TARGET_ROOM 200
#define REFERENCE_ROOM 16

static PyObject *hint_of, *hides; /* of blocks.py */
static Py_ssize_t permalink_levels, max_labels, max_name_chars, max_titles, max_attributes;
static Py_ssize_t max_reference; /* bytes of its name */
static unsigned long long class_bits; /* of structure.py, as the two after it */
static double min_u, vote_unit;

typedef struct {
    const uint8_t *at;
    size_t size;
} Text;

/* ---- bytes */

enum { SPACE = 1, MAYBE_SPACE = 2, REFERS = 4, ENDS_NAME = 8, ENDS_TAG_NAME = 16, ENDS_VALUE = 32, BLANK = 64 };
#define ALNUM 128
static uint8_t kinds[256];

#define IS(c, what) (kinds[(uint8_t)(c)] & (what))

static uint8_t kinds_of(int c) {
    int blank = c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r', ends = blank || c == '>' || c == 0;
    int space = c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x1F);
    int maybe = c == 0xC2 || c == 0xE1 || c == 0xE2 || c == 0xE3, alnum = c < 128 && (IS_LETTER(c) || IS_DIGIT(c));
    int ends_tag_name = ends || c == '/', ends_name = ends_tag_name || c == '=';
    return (uint8_t)(space * SPACE | maybe * MAYBE_SPACE | (c == '&') * REFERS | ends_name * ENDS_NAME |
                     ends_tag_name * ENDS_TAG_NAME | ends * ENDS_VALUE | blank * BLANK | alnum * ALNUM);
}

/* The bytes of Python's white space that begins here, 0 for none; a NUL or ASCII follows every text. */
static inline size_t space_at(const uint8_t *p) {
    if (p[0] < 0x80) return IS(p[0], SPACE) != 0;
    if (p[0] == 0xC2) return p[1] == 0x85 || p[1] == 0xA0 ? 2 : 0;
    if (p[0] == 0xE1) return p[1] == 0x9A && p[2] == 0x80 ? 3 : 0;
    if (p[0] == 0xE3) return p[1] == 0x80 && p[2] == 0x80 ? 3 : 0;
    if (p[0] != 0xE2) return 0;
    if (p[1] == 0x81) return p[2] == 0x9F ? 3 : 0;
    return p[1] == 0x80 && ((p[2] >= 0x80 && p[2] <= 0x8A) || p[2] == 0xA8 || p[2] == 0xA9 || p[2] == 0xAF) ? 3 : 0;
}

static int is_blank(Text text) {
    const uint8_t *p = text.at, *end = p + text.size;
    while (p < end && space_at(p)) p += space_at(p);
    return p >= end;
}

static size_t chars(const uint8_t *p, const uint8_t *end) {
    size_t count = 0;
    for (; p < end; p++) count += (*p & 0xC0) != 0x80;
    return count;
}

/* Whether a word of small letters begins here, in any case. */
static int is_word(const uint8_t *p, const void *word, size_t size) {
    for (size_t i = 0; i < size; i++)
        if ((p[i] | 32) != ((const uint8_t *)word)[i]) return 0;
    return 1;
}

static int is_same(Text a, Text b) { return a.size == b.size && memcmp(a.at, b.at, a.size) == 0; }

/* Gives the array behind this pointer room for so many elements of a size; 0 without memory. */
static int grow(void *held, size_t *room, size_t needed, size_t size) {
    void *array;
    size_t wanted = *room ? *room : 64;
    if (needed <= *room) return 1;
    while (wanted < needed) wanted *= 2;
    memcpy(&array, held, sizeof array);
    array = PyMem_RawRealloc(array, wanted * size);
    if (array == NULL) return 0;
    memcpy(held, &array, sizeof array);
    *room = wanted;
    return 1;
}

#define RESERVE(array, room, number) grow(&(array), &(room), (number), sizeof *(array))

/* ---- names: texts by their numbers, in the order in which they came */

typedef struct {
    uint64_t hash;
    size_t start, size;
} Name;

typedef struct {
    Name *all;
    uint8_t *bytes;
    uint32_t *slots; /* number + 1; 0 for none */
    size_t count, room, used, bytes_room, mask, clashes;
} Names;

static uint64_t quick_hash(const uint8_t *text, size_t size) {
    uint64_t hash = size * 0x9E3779B97F4A7C15ull, word;
    for (; size >= 8; text += 8, size -= 8) {
        memcpy(&word, text, 8);
        hash = (hash ^ word) * 0xFF51AFD7ED558CCDull;
        hash ^= hash >> 32;
    }
    for (word = 0; size; size--) word = word << 8 | *text++;
    hash = (hash ^ word) * 0xC4CEB9FE1A85EC53ull;
    return hash ^ hash >> 29;
}

static int names_widen(Names *names) {
    size_t mask = names->mask ? 2 * names->mask + 1 : 255;
    uint32_t *slots = PyMem_RawCalloc(mask + 1, sizeof *slots);
    if (slots == NULL) return 0;
    for (size_t number = 0; number < names->count; number++) {
        size_t at = names->all[number].hash & mask;
        while (slots[at]) at = (at + 1) & mask;
        slots[at] = (uint32_t)number + 1;
    }
    PyMem_RawFree(names->slots);
    names->slots = slots;
    names->mask = mask;
    return 1;
}

/* The slot of a text: its own, or the one that it would take. */
static size_t slot_of(const Names *names, const uint8_t *text, size_t size, uint64_t hash, size_t *clashes) {
    size_t at = hash & names->mask;
    for (; names->slots[at]; at = (at + 1) & names->mask, ++*clashes) {
        const Name *name = &names->all[names->slots[at] - 1];
        if (name->hash == hash && name->size == size && memcmp(names->bytes + name->start, text, size) == 0) break;
    }
    return at;
}

/* The number of a text in a table that isn't empty; NOBODY where it has none. */
static uint32_t find_name(const Names *names, const uint8_t *text, size_t size) {
    size_t clashes = 0, slot = slot_of(names, text, size, quick_hash(text, size), &clashes);
    return names->slots[slot] - 1; /* 0 - 1 is NOBODY */
}

/* The number of a text, which is added where it has none; NOBODY without memory, or after too many clashes. */
static uint32_t name_of(Names *names, const uint8_t *text, size_t size) {
    uint64_t hash = quick_hash(text, size);
    size_t slot;
    if (2 * names->count >= names->mask && !names_widen(names)) return NOBODY;
    slot = slot_of(names, text, size, hash, &names->clashes);
    if (names->clashes > MAX_CLASHES) return NOBODY;
    if (names->slots[slot]) return names->slots[slot] - 1;
    if (!RESERVE(names->all, names->room, names->count + 1)) return NOBODY;
    if (!RESERVE(names->bytes, names->bytes_room, names->used + size + 1)) return NOBODY;
    memcpy(names->bytes + names->used, text, size);
    names->all[names->count] = (Name){hash, names->used, size};
    names->used += size;
    names->slots[slot] = (uint32_t)++names->count;
    return (uint32_t)names->count - 1;
}

static Text text_of_name(const Names *names, uint32_t number) {
    return (Text){names->bytes + names->all[number].start, names->all[number].size};
}

static void names_free(Names *names) {
    PyMem_RawFree(names->all);
    PyMem_RawFree(names->bytes);
    PyMem_RawFree(names->slots);
    *names = (Names){0};
}

/* ---- what is known before a page is read, and never written again: tags, and references */

typedef struct {
    PyObject *text;          /* owned; of a known one by known_rows */
    uint64_t as_open, ended; /* its bit, where start tags may end it; those that its start tag ends */
    uint32_t traits;
} Tag;

typedef struct {
    uint8_t size, text[REFERENCE_ROOM];
} Reference;

static Names known_names, reference_names;
static PyObject *known_rows; /* a tuple */
static Tag *known_tags;
static Reference *references;
static size_t known_room, references_room;

static int digit_of(uint8_t c, int is_hex) {
    if (IS_DIGIT(c)) return c - '0';
    return is_hex && (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Writes the text of a reference that is known; its bytes. */
static size_t put_known(uint8_t *out, uint32_t number) {
    if (number == NOBODY) return 0;
    memcpy(out, references[number].text, references[number].size);
    return references[number].size;
}

/* As `reference`, of `&#`. */
static size_t numeric_reference(const uint8_t *p, const uint8_t *end, uint8_t *out, size_t *taken) {
    const uint8_t *at = p + 2, *first;
    int is_hex = at < end && (*at | 32) == 'x';
    uint32_t code = 0;
    for (first = at += is_hex; at < end && digit_of(*at, is_hex) >= 0; at++)
        if (code <= MAX_CODE) code = code * (is_hex ? 16 : 10) + (uint32_t)digit_of(*at, is_hex);
    if (at == first) return 0;
    *taken = (size_t)(at - p) + (at < end && *at == ';');
    if (code >= 0x80 && code < 0xA0) return put_known(out, find_name(&reference_names, out, put(out, code)));
    return put(out, code == 0 || (code >= 0xD800 && code < 0xE000) || code > MAX_CODE ? 0xFFFD : code);
}

/* Some names need no semicolon: the longest of them that begins here; in a value nothing may follow it. */
static uint32_t known_prefix(const uint8_t *name, size_t *length, int place) {
    uint32_t number = find_name(&reference_names, name, *length);
    while (number == NOBODY && place != IN_VALUE && *length > 2)
        number = find_name(&reference_names, name, --*length);
    return place == IN_VALUE && name[*length] == '=' ? NOBODY : number;
}

/* Writes the text of a reference that begins here: its bytes, and how many are taken; 0 where it is none. */
static size_t reference(const uint8_t *p, const uint8_t *end, int place, uint8_t *out, size_t *taken) {
    const uint8_t *name = p + 1;
    size_t length = 0;
    uint32_t number = NOBODY;
    if (name < end && *name == '#') return numeric_reference(p, end, out, taken);
    while (name + length < end && length <= (size_t)max_reference && IS(name[length], ALNUM)) length++;
    if (length == 0 || IS_DIGIT(*name)) return 0;
    if (name[length] == ';') number = find_name(&reference_names, name, length + 1);
    if (number != NOBODY) length++;
    else if ((number = known_prefix(name, &length, place)) == NOBODY) return 0;
    *taken = 1 + length;
    return put_known(out, number);
}

/* ---- one page */

typedef struct {
    uint32_t tag, node, seen; /* seen: a bit for each attribute */
    uint8_t kind, is_closed;  /* to the outline: what is in it isn't entered */
    Py_ssize_t block, box, hint, heading; /* how many there were; an h1's number, from 1 on */
    size_t said;                          /* where an h1's text begins */
    Text values[ATTRIBUTES];
} Open;

typedef struct {
    uint32_t parent, label, tag, size;
} Node;

typedef struct {
    const uint8_t *end;
    const char *why; /* there is no answer: a rule that the page breaks, or SURE */
    int stage;
    /* the stack, and tags that aren't known; hidden: a level, what is deeper is hidden */
    Open *path;
    Tag *own_tags;
    Names own_names;
    size_t depth, max_depth, path_room, own_room, hidden, left_out;
    int saw_head, head_is_closed, is_behind_front, is_named;
    /* the block that is read, and those that are; a run is a text between two tags */
    uint8_t *text, *decoded;
    size_t size, decoded_room, linked, links, run_spaces;
    int pending, in_run;
    uint32_t block_tag;
    /* the outline; front: the body's node, where it was needed before the body came */
    Node *nodes;
    Names labels, node_names;
    uint32_t front;
    double *weights; /* of tags and labels */
    size_t node_count, node_room;
    /* what was said in h1s that are open */
    uint8_t *said;
    size_t said_size, said_room, titles_seen, headings_open;
    PyObject *lists[LISTS];
} Page;

/* Once it is unsure a page stays so; all that follows returns soon, without a meaning. */
static int unsure(Page *page, const char *why) {
    if (page->why == SURE) page->why = why;
    return 0;
}

static int failed(Page *page) {
    if (page->why == SURE && !PyErr_Occurred()) PyErr_NoMemory();
    return unsure(page, "with an exception");
}

#define ROOM(page, array, room, number) (RESERVE(array, room, number) || failed(page))

/* A str; the empty one where the page is unsure. */
static PyObject *str_of(Page *page, Text text) {
    PyObject *made = NULL;
    if (page->why == SURE) made = PyUnicode_DecodeUTF8((const char *)text.at, (Py_ssize_t)text.size, "strict");
    if (made == NULL) failed(page);
    return made ? made : PyUnicode_New(0, 0);
}

static Py_ssize_t length_of(const Page *page, int list) { return PyList_GET_SIZE(page->lists[list]); }

/* Appends to a list what is owned. */
static void append(Page *page, int list, PyObject *made) {
    if (made == NULL || PyList_Append(page->lists[list], made) < 0) failed(page);
    Py_XDECREF(made);
}

/* Takes out all but the first of a list. */
static void shorten(Page *page, int list, Py_ssize_t length) {
    Py_ssize_t all = length_of(page, list);
    if (all > length && PyList_SetSlice(page->lists[list], length, all, NULL) < 0) failed(page);
}

/* Puts what is owned into a list's place. */
static void put_in(Page *page, int list, Py_ssize_t place, PyObject *made) {
    if (made == NULL || PyList_SetItem(page->lists[list], place, made) < 0) failed(page);
}

static uint32_t number_in(Page *page, Names *names, const uint8_t *text, size_t size) {
    uint32_t number = name_of(names, text, size);
    if (number == NOBODY) names->clashes > MAX_CLASHES ? unsure(page, "names clash") : failed(page);
    return number;
}

static inline const Tag *tag_at(const Page *page, uint32_t tag) {
    return tag < known_names.count ? &known_tags[tag] : &page->own_tags[tag - known_names.count];
}

static Text name_of_tag(const Page *page, uint32_t tag) {
    if (tag < known_names.count) return text_of_name(&known_names, tag);
    return text_of_name(&page->own_names, tag - (uint32_t)known_names.count);
}

/* The number of a tag: one that is known, or else of this page alone. */
static uint32_t tag_of(Page *page, const uint8_t *name, size_t size) {
    uint32_t number = find_name(&known_names, name, size), known = (uint32_t)known_names.count;
    size_t before = page->own_names.count;
    if (number != NOBODY) return number;
    if (!ROOM(page, page->own_tags, page->own_room, before + 1)) return NOBODY;
    if ((number = number_in(page, &page->own_names, name, size)) == NOBODY) return NOBODY;
    if (number == before) page->own_tags[number] = (Tag){str_of(page, (Text){name, size}), 0, 0, BOX};
    return number + known;
}

/* ---- attributes */

static int attribute_of(const uint8_t *name, size_t size) {
    static const struct {
        const char *name;
        int number;
    } all[12][3] = {
        [2] = {{"id", ID}}, [3] = {{"rel", REL}}, [4] = {{"href", HREF}, {"role", ROLE_NAME}, {"name", NAME}},
        [5] = {{"class", CLASS}, {"style", STYLE}}, [6] = {{"hidden", HIDE}}, [7] = {{"content", SAYS}},
        [8] = {{"property", PROPERTY}}, [11] = {{"aria-hidden", ARIA}},
    };
    for (int i = 0; size < 12 && i < 3 && all[size][i].name; i++)
        if (is_word(name, all[size][i].name, size)) return all[size][i].number;
    return -1;
}

/* Reads the value behind a name, if there is one; where it ends, or NULL where its quote doesn't. */
static const uint8_t *read_value(const Page *page, const uint8_t *p, Text *value) {
    *value = (Text){p, 0};
    while (IS(*p, BLANK)) p++;
    if (*p != '=') return p;
    for (p++; IS(*p, BLANK);) p++;
    value->at = p;
    if (*p == '"' || *p == '\'') {
        value->at = p + 1;
        p = memchr(p + 1, *p, (size_t)(page->end - p - 1));
        if (p != NULL) value->size = (size_t)(p++ - value->at);
        return p;
    }
    while (!IS(*p, ENDS_VALUE)) p++;
    value->size = (size_t)(p - value->at);
    return p;
}

/* Reads a tag from behind its name; where its end begins (`>` or `/>`), or the page's. No `open`: an end tag. */
static const uint8_t *read_attributes(Page *page, const uint8_t *p, Open *open) {
    for (Py_ssize_t count = 1;; count++) {
        const uint8_t *name;
        Text value;
        int number;
        while (IS(*p, BLANK) || (*p == '/' && p[1] != '>')) p++;
        if (*p == '>' || *p == '/' || p >= page->end) return p;
        if (count > max_attributes) unsure(page, "many attributes");
        for (name = p++; !IS(*p, ENDS_NAME);) p++;
        number = open ? attribute_of(name, (size_t)(p - name)) : -1;
        if ((p = read_value(page, p, &value)) == NULL) return page->end; /* such a tag is left out */
        if (number < 0 || open->seen >> number & 1) continue;
        open->seen |= 1u << number;
        open->values[number] = value;
    }
}

/* Whether parse._without_ends may put a hyphen behind what begins here. */
static int is_renamed(const uint8_t *p) {
    if (p[0] != '<' || p[1] != '/' || !(is_word(p + 2, "body", 4) || is_word(p + 2, "html", 4))) return 0;
    return IS(p[6], ENDS_TAG_NAME);
}

/* A text as libxml2 reads it, with references and carriage returns; valid until the next call. */
static Text decoded(Page *page, Text read, int place) {
    const uint8_t *p = read.at, *end = p + read.size;
    uint8_t *out;
    while (p < end && *p != '&' && *p != '\r' && *p != '<') p++;
    if (p == end) return read;
    if (!ROOM(page, page->decoded, page->decoded_room, 2 * read.size + REFERENCE_ROOM)) return (Text){p, 0};
    for (p = read.at, out = page->decoded; p < end;) {
        size_t taken = 1, made = *p == '&' && place != IN_RAW ? reference(p, end, place, out, &taken) : 0;
        if (is_renamed(p)) unsure(page, "</body or </html in a text");
        if (made == 0 && *p != '\r') out[made++] = *p;
        else if (made == 0 && p[1] != '\n') out[made++] = '\n';
        out += made;
        p += taken;
    }
    return (Text){page->decoded, (size_t)(out - page->decoded)};
}

static int has(const Open *open, int number) { return open->seen >> number & 1; }

/* An attribute's text; empty where it has none. */
static Text value_of(Page *page, const Open *open, int number) {
    return has(open, number) ? decoded(page, open->values[number], IN_VALUE) : (Text){(const uint8_t *)"", 0};
}

static PyObject *value_str(Page *page, const Open *open, int number) {
    return str_of(page, value_of(page, open, number));
}

static int is_value(Page *page, const Open *open, int number, Text asked) {
    return has(open, number) && is_same(value_of(page, open, number), asked);
}

/* ---- text and blocks */

static void take_word(Page *page, const uint8_t *from, const uint8_t *to) {
    if (page->pending) page->text[page->size++] = ' ';
    page->pending = 0;
    memcpy(page->text + page->size, from, (size_t)(to - from));
    page->size += (size_t)(to - from);
    if (page->links) page->linked += page->run_spaces + chars(from, to);
    page->in_run = 1;
    page->run_spaces = 0;
}

/* Where ends what is copied as it stands: words with single spaces between them. */
static const uint8_t *words_end(const uint8_t *p, const uint8_t *end) {
    for (const uint8_t *from = p;; p++) {
        while (p < end && !IS(*p, SPACE | MAYBE_SPACE | REFERS)) p++;
        if (p == end || *p == '&') return p;
        if (*p == ' ' && p > from && p + 1 < end && !IS(p[1], SPACE | MAYBE_SPACE | REFERS)) continue;
        if (space_at(p)) return p;
    }
}

static void take_text(Page *page, const uint8_t *p, const uint8_t *end, int place) {
    while (p < end) {
        const uint8_t *to = words_end(p, end);
        size_t taken = 1;
        if (to > p) {
            take_word(page, p, to);
            p = to;
        } else if (*p == '&') {
            uint8_t text[REFERENCE_ROOM] = {0};
            size_t made = place == IN_TEXT ? reference(p, end, place, text, &taken) : 0;
            if (made == 0 || *text == '&') take_word(page, p, p + 1);
            else take_text(page, text, text + made, IN_RAW);
            p += taken;
        } else {
            page->pending = page->size > 0;
            page->run_spaces += (size_t)page->in_run;
            p += *p == '\r' && p + 1 < end && p[1] == '\n' ? 2 : space_at(p);
        }
    }
}

static void end_run(Page *page) {
    page->in_run = 0;
    page->run_spaces = 0;
}

/* Blocks.add: makes a block of what was read, if it is any text. */
static void end_block(Page *page, uint32_t next_tag) {
    if (page->size) {
        PyObject *text = str_of(page, (Text){page->text, page->size});
        size_t length = (size_t)PyUnicode_GET_LENGTH(text), linked = page->linked;
        append(page, TEXTS, text);
        append(page, TAGS, Py_NewRef(tag_at(page, page->block_tag)->text));
        append(page, SIZES, PyLong_FromSize_t(page->size));
        append(page, SHARES, PyFloat_FromDouble(linked < length ? (double)linked / (double)length : 1.0));
    }
    page->block_tag = next_tag;
    page->size = page->linked = 0;
    page->pending = 0;
}

/* ---- boxes */

/* Whether a style says display:none, by Python where it may. */
static int style_hides(Page *page, Text style) {
    size_t at = 0;
    PyObject *text, *answer;
    while (at + 4 <= style.size && !is_word(style.at + at, "none", 4)) at++;
    if (at + 4 > style.size) return 0;
    text = str_of(page, style);
    answer = PyObject_CallOneArg(hides, text);
    Py_DECREF(text);
    Py_XDECREF(answer);
    return answer != NULL ? answer != Py_None : failed(page);
}

static int is_hidden(Page *page, const Open *open) {
    static const Text yes = {(const uint8_t *)"true", 4};
    if (has(open, HIDE) || is_value(page, open, ARIA, yes)) return 1;
    return has(open, STYLE) && style_hides(page, value_of(page, open, STYLE));
}

/* What Blocks.close does with all that is in a hidden element. */
static void set_aside(Page *page, const Open *open) {
    for (Py_ssize_t i = open->block; i < length_of(page, TEXTS); i++)
        append(page, HIDDEN_TEXTS, Py_NewRef(PyList_GET_ITEM(page->lists[TEXTS], i)));
    for (int list = TEXTS; list <= SHARES; list++) shorten(page, list, open->block);
    shorten(page, BOXES, open->box);
    shorten(page, HINTS, open->hint);
}

/* An argument of blocks.hint_of, which remembers what it was asked. */
static PyObject *short_value(Page *page, const Open *open, int number) {
    PyObject *text = value_str(page, open, number), *cut;
    if (PyUnicode_GET_LENGTH(text) <= max_name_chars) return text;
    cut = PyUnicode_Substring(text, 0, max_name_chars);
    Py_DECREF(text);
    return cut;
}

static void add_hint(Page *page, const Open *open) {
    PyObject *role = short_value(page, open, ROLE_NAME), *name = short_value(page, open, CLASS);
    PyObject *ident = short_value(page, open, ID), *asked[4] = {tag_at(page, open->tag)->text, role, name, ident};
    PyObject *hint = role && name && ident ? PyObject_Vectorcall(hint_of, asked, 4, NULL) : NULL;
    if (hint == NULL) failed(page);
    else if (hint != Py_None) append(page, HINTS, Py_BuildValue("nnO", open->block, length_of(page, TEXTS), hint));
    Py_XDECREF(role);
    Py_XDECREF(name);
    Py_XDECREF(ident);
    Py_XDECREF(hint);
}

/* Blocks.close */
static void close_box(Page *page, const Open *open) {
    static const uint32_t names = 1u << CLASS | 1u << ID | 1u << ROLE_NAME;
    const Tag *tag = tag_at(page, open->tag);
    Py_ssize_t end = length_of(page, TEXTS);
    if (open->block == end) shorten(page, BOXES, open->box);
    else if (is_hidden(page, open)) set_aside(page, open);
    else if (open->kind == BOX) {
        PyObject *name = value_str(page, open, CLASS);
        put_in(page, BOXES, open->box, Py_BuildValue("nnON", open->block, end, tag->text, name));
        if (open->seen & names || tag->traits & HINTED) add_hint(page, open);
    }
}

/* blocks._leads_away, of an `a` */
static int leads_away(Page *page, const Open *link) {
    Text target = value_of(page, link, HREF);
    uint8_t held[TARGET_ROOM];
    if (!has(link, HREF)) return !has(link, NAME) && !has(link, ID);
    if (target.size <= 1 || *target.at != '#') return 1;
    if (target.size > sizeof held) return unsure(page, "a long name");
    memcpy(held, target.at + 1, --target.size); /* the next value may be decoded into the same place */
    target.at = held;
    if (is_value(page, link, NAME, target) || is_value(page, link, ID, target)) return 0;
    for (size_t up = 1; up <= (size_t)permalink_levels && page->depth >= up + 2; up++)
        if (is_value(page, &page->path[page->depth - up], ID, target)) return 0;
    return 1;
}

/* ---- the outline */

static uint32_t child_of(Page *page, uint32_t parent, uint32_t label, uint32_t tag) {
    uint32_t key[2] = {parent, label}, number = number_in(page, &page->node_names, (const uint8_t *)key, sizeof key);
    if (number == NOBODY || number < page->node_count) return number;
    if (!ROOM(page, page->nodes, page->node_room, page->node_count + 1)) return NOBODY;
    page->nodes[page->node_count++] = (Node){parent, label, tag, 1};
    return number;
}

/* The bytes of UTF-8 that all digits beyond ASCII begin with, which \d finds too. */
#define DIGITS_BEGIN "\xD9\xDB\xDF\xE0\xE1\xEA\xEF\xF0"
#define IS_EMOJI(at) ((at)[0] == 0xF0 && (at)[1] == 0x9F && (at)[2] != 0xAF)

/* Writes a class with each number as 0; its bytes. */
static size_t put_class(Page *page, const uint8_t *at, const uint8_t *end, uint8_t *out) {
    size_t size = 0;
    for (int was_digit = 0; at < end; at++) {
        int is_digit = IS_DIGIT(*at);
        if (*at >= 0xD9 && strchr(DIGITS_BEGIN, *at) && !IS_EMOJI(at)) unsure(page, "a digit beyond ASCII in a class");
        if (!is_digit || !was_digit) out[size++] = is_digit ? '0' : *at;
        was_digit = is_digit;
    }
    return size;
}

/* structure._label: the number of tag.class, by the first class. */
static uint32_t label_of(Page *page, uint32_t tag, Text names) {
    Text name = name_of_tag(page, tag);
    const uint8_t *at = names.at, *all = at + names.size, *end;
    uint8_t made[TAG_ROOM + 1 + CLASS_ROOM];
    size_t size = name.size;
    while (at < all && space_at(at)) at += space_at(at);
    for (end = at; end < all && !space_at(end);) end++;
    if ((size_t)(end - at) > CLASS_ROOM) unsure(page, "a long name");
    if (page->why != SURE) return NOBODY;
    memcpy(made, name.at, size);
    if (at < end) made[size++] = '.';
    return number_in(page, &page->labels, made, size + put_class(page, at, end, made + size));
}

/* The node of the body, before that comes: for what the head should not hold (parse._empty_head). */
static uint32_t front_of(Page *page) {
    uint32_t label = label_of(page, BODY, (Text){(const uint8_t *)"", 0});
    if (!page->front) page->front = child_of(page, 0, NOBODY, BODY);
    if (page->why == SURE) page->nodes[page->front].label = label;
    return page->front;
}

/* structure.outline, of the element that is opened. */
static void outline(Page *page, Open *open) {
    unsigned role = tag_at(page, open->tag)->traits >> ROLE_SHIFT & ROLE;
    int is_root = page->depth == 0, is_front = page->depth == 2 && page->stage == IN_FRONT;
    Text names;
    open->node = is_root ? NOBODY : is_front ? front_of(page) : open[-1].node;
    open->is_closed = role >= IS_LEAF || (!is_root && !is_front && open[-1].is_closed);
    if (!is_root && ((!is_front && open[-1].is_closed) || role == IS_LEFT_OUT)) return;
    names = value_of(page, open, CLASS);
    if (is_root) names.size = 0;
    if (open->tag == BODY && page->front) {
        page->nodes[open->node = page->front].label = label_of(page, BODY, names);
    } else if (names.size || role != IS_INLINE)
        open->node = child_of(page, open->node, label_of(page, open->tag, names), open->tag);
}

/* ---- titles and the head */

/* Keeps what is said while an h1 is open. */
static void say(Page *page, Text text, int place) {
    if (page->headings_open == 0) return;
    text = decoded(page, text, place);
    if (!ROOM(page, page->said, page->said_room, page->said_size + text.size + 1)) return;
    memcpy(page->said + page->said_size, text.at, text.size);
    page->said_size += text.size;
}

static void open_heading(Page *page, Open *open) {
    if (open->tag != H1 || length_of(page, HEADINGS) >= max_titles) return;
    append(page, HEADINGS, Py_NewRef(Py_None)); /* in the order in which they open */
    open->heading = length_of(page, HEADINGS);
    open->said = page->said_size;
    page->headings_open++;
}

static void close_heading(Page *page, const Open *open) {
    Text text = {page->said + open->said, page->said_size - open->said};
    put_in(page, HEADINGS, open->heading - 1, str_of(page, text));
    page->headings_open--;
}

static PyObject *value_or_none(Page *page, const Open *open, int number) {
    return has(open, number) ? value_str(page, open, number) : Py_NewRef(Py_None);
}

/* A row of head.head_of; `text` is a title's. */
static void append_row(Page *page, const Open *open, Text text) {
    PyObject *rel = value_or_none(page, open, REL), *href = value_or_none(page, open, HREF), *says;
    PyObject *property = value_or_none(page, open, PROPERTY);
    if (open->tag == TITLE) says = str_of(page, decoded(page, text, IN_TEXT));
    else says = value_or_none(page, open, SAYS);
    append(page, ROWS, Py_BuildValue("ONNNN", tag_at(page, open->tag)->text, rel, href, property, says));
}

/* head._titles, but for the h1s. */
static void take_title(Page *page, const Open *open, Text text) {
    static const Text og_title = {(const uint8_t *)"og:title", 8};
    int is_og = open->tag == META && is_value(page, open, PROPERTY, og_title);
    if (open->tag != TITLE && !is_og) return;
    if (page->stage == IN_FRONT && !page->is_named) /* the head's come first then */
        unsure(page, "the head holds what is no metadata");
    if (is_og) append(page, OG_TITLES, value_str(page, open, SAYS));
    else if (page->titles_seen++ < (size_t)max_titles && open[-1].tag <= BODY) {
        text = decoded(page, text, IN_TEXT);
        if (page->titles_seen == 1 && open[-1].tag == HEAD) page->is_named = !is_blank(text);
        append(page, TITLES, str_of(page, text));
    }
}

/* ---- the stack */

/* What the reader of blocks does as an element of the body closes. */
static void close_content(Page *page, const Open *open) {
    if (page->hidden) {
        if (page->depth == page->hidden) page->hidden = 0;
    } else if (open->kind >= BLOCK) {
        end_block(page, DIV);
        close_box(page, open);
    } else if (open->kind == LINK)
        page->links--;
}

static void close_last(Page *page) {
    const Open *open = &page->path[--page->depth];
    if (open->tag == HEAD) page->head_is_closed = 1;
    if (open->heading) close_heading(page, open);
    end_run(page);
    if (page->stage == BEFORE_BODY || page->depth < 2) return;
    close_content(page, open);
    page->is_behind_front = page->depth == 2 && page->stage == IN_FRONT;
    if (page->is_behind_front) page->stage = BEFORE_BODY;
}

static void close_ended(Page *page, uint32_t tag) {
    uint64_t ended = tag_at(page, tag)->ended;
    while (page->depth && tag_at(page, page->path[page->depth - 1].tag)->as_open & ended) close_last(page);
}

/* The place of the element that is opened next, without attributes. */
static Open *next_open(Page *page) {
    Open *open;
    if (page->depth >= page->max_depth) unsure(page, "too deep");
    if (page->why != SURE || !ROOM(page, page->path, page->path_room, page->depth + 1)) return NULL;
    open = &page->path[page->depth];
    open->seen = 0;
    open->heading = 0;
    return open;
}

/* What the reader of blocks does as an element of the body opens; its kind. */
static int open_content(Page *page, const Open *open, int kind) {
    if (page->hidden) return kind;
    if (kind == HIDDEN) page->hidden = page->depth;
    if (kind >= BLOCK) end_block(page, open->tag);
    if (kind == BOX) append(page, BOXES, Py_NewRef(Py_None)); /* in the order in which they open */
    if (kind == BREAK) page->pending = page->size > 0;
    if (kind != LINK) return kind;
    if (open->tag == A && !leads_away(page, open)) return INLINE;
    page->links++;
    return kind;
}

/* Follows the page from its head to its body. */
static void enter(Page *page, const Open *open, unsigned traits) {
    int is_front = page->depth == 2 && open[-1].tag == HEAD && !(traits & IS_METADATA);
    if (open->tag == HEAD) page->saw_head = 1;
    if (open->tag == BODY && page->depth != 1) unsure(page, "an odd root");
    if (open->tag == BODY) page->stage = IN_BODY;
    if (is_front) page->stage = IN_FRONT;
    if (is_front && page->head_is_closed) unsure(page, "the head holds what is no metadata");
}

/* Opens the element that `next_open` gave. */
static void open_next(Page *page, uint32_t number) {
    const Tag *tag = tag_at(page, number);
    Open *open = &page->path[page->depth];
    open->tag = number;
    page->is_behind_front = 0;
    end_run(page);
    enter(page, open, tag->traits);
    outline(page, open);
    open->kind = tag->traits & KIND;
    open->box = length_of(page, BOXES);
    open->hint = length_of(page, HINTS);
    if (page->stage != BEFORE_BODY && page->depth >= 2) open->kind = (uint8_t)open_content(page, open, open->kind);
    open->block = length_of(page, TEXTS);
    open_heading(page, open);
    page->depth++;
}

static void open_implied(Page *page, uint32_t tag) {
    if (next_open(page) != NULL) open_next(page, tag);
}

/* What libxml2 opens before an element of this tag: htmlCheckImplied. */
static void imply(Page *page, uint32_t tag) {
    unsigned traits = tag_at(page, tag)->traits;
    if (page->stage == IN_BODY || tag == HTML) return;
    if (page->depth == 0) open_implied(page, HTML);
    if (tag == BODY || tag == HEAD) return;
    if (page->depth <= 1 && traits & OPENS_HEAD) {
        if (!page->saw_head) open_implied(page, HEAD);
    } else if (traits & OPENS_NO_BODY) {
        unsure(page, "no body"); /* frames stand in its place */
    } else if (page->depth < 2 || page->path[1].tag != HEAD)
        open_implied(page, BODY);
}

/* ---- markup */

/* Whether the name of a raw element begins here, and ends. */
static int is_name(const Page *page, const uint8_t *p, Text name) {
    return (size_t)(page->end - p) > name.size && IS(p[name.size], ENDS_TAG_NAME) && is_word(p, name.at, name.size);
}

static const uint8_t *text_end(const Page *page, const uint8_t *p, Text name) {
    for (; (p = memchr(p, '<', (size_t)(page->end - p))) != NULL; p++)
        if (p[1] == '/' && is_name(page, p + 2, name)) return p;
    return page->end;
}

/* In a script `<!--` hides `</script>` up to `-->`, if `<script` is between. */
static const uint8_t *script_end(const Page *page, const uint8_t *p, Text name) {
    for (int state = PLAIN;; p++) {
        if (state == PLAIN) p = memchr(p, '<', (size_t)(page->end - p));
        else
            while (p < page->end && *p != '<' && *p != '-') p++;
        if (p == NULL || p == page->end) return page->end;
        if (*p == '-') {
            if (p[1] == '-' && p[2] == '>') state = PLAIN;
        } else if (state == PLAIN && p[1] == '!') {
            if (p[2] == '-' && p[3] == '-') state = ESCAPED;
        } else if (p[1] == '/' && is_name(page, p + 2, name)) {
            if (state != TWICE_ESCAPED) return p;
            state = ESCAPED;
        } else if (state == ESCAPED && is_name(page, p + 1, name))
            state = TWICE_ESCAPED;
    }
}

/* Takes the text of an element that holds no markup. */
static void take_raw(Page *page, Text text, int place) {
    say(page, text, place);
    if (page->stage == BEFORE_BODY || page->hidden) return;
    for (const uint8_t *at = text.at, *end = at + text.size; (at = memchr(at, '<', (size_t)(end - at))) != NULL; at++)
        if (is_renamed(at)) unsure(page, "</body or </html in a text");
    take_text(page, text.at, text.at + text.size, place);
}

/* Reads on from a start tag, whose element is open, to the next markup. */
static const uint8_t *take_content(Page *page, const uint8_t *p, Text name, int is_empty) {
    const Open *open = &page->path[page->depth - 1];
    unsigned traits = tag_at(page, open->tag)->traits, holds = is_empty ? MARKUP : traits >> HOLDS_SHIFT & HOLDS;
    const uint8_t *end = holds == MARKUP ? p : holds == SCRIPT ? script_end(page, p, name) : text_end(page, p, name);
    Text text = {p, (size_t)(end - p)};
    if (holds == PLAINTEXT) unsure(page, "an odd root");
    if (page->depth == 3 && open[-1].tag == HEAD && !page->head_is_closed && page->stage == BEFORE_BODY)
        append_row(page, open, text);
    take_title(page, open, text);
    if (is_empty || traits & IS_VOID) close_last(page);
    if (holds != MARKUP) take_raw(page, text, holds == ESCAPABLE ? IN_TEXT : IN_RAW);
    return end;
}

/* A tag's name in small letters; its bytes. */
static size_t read_name(Page *page, const uint8_t *p, uint8_t *name) {
    size_t size = 0;
    for (; !IS(p[size], ENDS_TAG_NAME) && size < TAG_ROOM; size++)
        name[size] = p[size] >= 'A' && p[size] <= 'Z' ? p[size] | 32 : p[size];
    if (size == TAG_ROOM) unsure(page, "a long name");
    return size;
}

/* Whether libxml2 leaves such a tag out, and its end tag. */
static int is_second(const Page *page, uint32_t tag) {
    if (tag == HTML) return page->depth > 0;
    return tag == HEAD ? page->depth != 1 : tag == BODY && page->stage == IN_BODY;
}

static const uint8_t *start_tag(Page *page, const uint8_t *p) {
    uint8_t name[TAG_ROOM];
    size_t size = read_name(page, p, name);
    uint32_t tag = tag_of(page, name, size);
    Open *open;
    int is_empty;
    if (tag == NOBODY) return page->end;
    close_ended(page, tag);
    imply(page, tag);
    if ((open = next_open(page)) == NULL) return page->end;
    p = read_attributes(page, p + size, open);
    is_empty = *p == '/';
    if (is_empty && tag <= BODY) unsure(page, "an odd root");
    if (is_second(page, tag)) {
        page->left_out++;
        return p + (p < page->end);
    }
    if (p >= page->end) return page->end; /* such a tag is left out */
    open_next(page, tag);
    return page->why == SURE ? take_content(page, p + 1 + is_empty, (Text){name, size}, is_empty) : page->end;
}

static unsigned rank_of(const Page *page, uint32_t tag) { return tag_at(page, tag)->traits >> RANK_SHIFT & RANK; }

static const uint8_t *end_tag(Page *page, const uint8_t *p) {
    uint8_t name[TAG_ROOM];
    size_t size = read_name(page, p, name), level;
    uint32_t tag = tag_of(page, name, size);
    unsigned rank;
    p = read_attributes(page, p + size, NULL);
    if (p >= page->end || tag == NOBODY) return page->end;
    rank = rank_of(page, tag);
    p += 1 + (*p == '/');
    if (tag == HTML || tag == BODY) return p; /* parse._without_ends */
    if (tag == HEAD && page->left_out) {
        page->left_out--;
        return p;
    }
    for (level = page->depth; level && page->path[level - 1].tag != tag; level--)
        if (rank_of(page, page->path[level - 1].tag) > rank) return p; /* it may not end what ranks above it */
    while (level && page->depth >= level) close_last(page);
    return p;
}

/* Whether _empty_head would make other text of it: a character that no XML may hold. */
static int is_no_xml(const uint8_t *p, const uint8_t *end) {
    for (; p < end; p++)
        if ((*p < ' ' && !IS(*p, BLANK)) || (*p == 0xEF && p[1] == 0xBF) || (*p == '&' && p[1] == '#')) return 1;
    return 0;
}

static void take_characters(Page *page, const uint8_t *p, const uint8_t *end) {
    uint32_t top = page->depth ? page->path[page->depth - 1].tag : HTML;
    if (page->stage != IN_BODY && top <= HEAD) {
        if (top == HEAD && page->is_behind_front && IS(*p, BLANK)) page->pending = page->size > 0;
        while (p < end && IS(*p, BLANK)) p++;
        if (p == end) return;
        if (*p == '&' && p[1] == '#') unsure(page, "an odd root"); /* it may be white space */
        if (top == HEAD) close_ended(page, P);
        imply(page, P);
        top = BODY;
    }
    if (page->front && top == BODY && is_no_xml(p, end)) unsure(page, "odd bytes");
    say(page, (Text){p, (size_t)(end - p)}, IN_TEXT);
    if (page->stage != BEFORE_BODY && !page->hidden) take_text(page, p, end, IN_TEXT);
}

static const uint8_t *behind(const Page *page, const uint8_t *p) {
    p = memchr(p, '>', (size_t)(page->end - p));
    return p ? p + 1 : page->end;
}

static const uint8_t *behind_comment(const Page *page, const uint8_t *p) {
    if (*p == '>' || (*p == '-' && p[1] == '>')) return p + 1 + (*p == '-');
    for (; (p = memchr(p, '-', (size_t)(page->end - p))) != NULL; p++) {
        if (p[1] == '-' && p[2] == '>') return p + 3;
        if (p[1] == '-' && p[2] == '!' && p[3] == '>') return p + 4;
    }
    return page->end;
}

/* Reads what begins with `<`; where the next begins. */
static const uint8_t *read_tag(Page *page, const uint8_t *p) {
    if (p[1] == '/' && p + 2 < page->end) {
        if (IS_LETTER(p[2])) return end_tag(page, p + 2);
        return p[2] == '>' ? p + 3 : behind(page, p + 2);
    }
    if (p[1] == '!') return p[2] == '-' && p[3] == '-' ? behind_comment(page, p + 4) : behind(page, p + 2);
    if (p[1] == '?') return behind(page, p + 1);
    if (IS_LETTER(p[1])) return start_tag(page, p + 1);
    take_characters(page, p, p + 1);
    return p + 1;
}

static void read_page(Page *page, const uint8_t *p) {
    const uint8_t *end = page->end, *to;
    while (p < end && page->why == SURE) {
        if (*p == '<') p = read_tag(page, p);
        else {
            if ((to = memchr(p, '<', (size_t)(end - p))) == NULL) to = end;
            take_characters(page, p, to);
            p = to;
        }
    }
    if (page->stage == BEFORE_BODY && !page->front) unsure(page, "no body");
    while (page->why == SURE && page->depth) close_last(page);
    if (page->why == SURE) end_block(page, BODY);
    for (int list = OG_TITLES; list <= HEADINGS; list++)
        if (PyList_SetSlice(page->lists[TITLES], PY_SSIZE_T_MAX, PY_SSIZE_T_MAX, page->lists[list]) < 0) failed(page);
}

/* ---- answers */

/* Outline.weights, and of each tag and label that of its heaviest node. */
static void weigh(Page *page, double *of_tags, double *of_labels) {
    Node *nodes = page->nodes;
    for (size_t number = page->node_count; number-- > 1;) nodes[nodes[number].parent].size += nodes[number].size;
    of_tags[nodes[0].tag] = 1.0;
    for (size_t number = 1; number < page->node_count; number++) {
        const Node *node = &nodes[number];
        double filled = (double)node->size / nodes[node->parent].size, left = 2 * (1 - filled);
        double weight = (double)node->size / nodes[0].size * (left < 1.0 ? left : 1.0);
        if (weight > of_tags[node->tag]) of_tags[node->tag] = weight;
        if (weight > of_labels[node->label]) of_labels[node->label] = weight;
    }
}

/* structure._loudness */
static double loudness(uint64_t hash, int bit) {
    double u = ((double)(mixed((hash << 32) + (uint64_t)(bit + 1) * GOLDEN) >> 32) + 1.0) / 4294967296.0;
    return u < min_u ? 1.0 / (min_u * min_u) : 1.0 / (u * u);
}

/* structure.outline_fingerprint: the bits for which more than half vote. */
static uint64_t structure(Page *page) {
    size_t tags = known_names.count + page->own_names.count, all = tags + page->labels.count, voters[2] = {0};
    double vote, ayes[64] = {0}, votes[64] = {0}, *weights = page->weights = PyMem_RawCalloc(all, sizeof *weights);
    uint64_t hash[2], bits = 0;
    if (weights == NULL) return (uint64_t)failed(page);
    weigh(page, weights, weights + tags);
    for (size_t i = 0; i < all; i++) {
        int is_label = i >= tags;
        Text name = is_label ? text_of_name(&page->labels, (uint32_t)(i - tags)) : name_of_tag(page, (uint32_t)i);
        if (weights[i] <= 0.0) continue;
        voters[is_label]++;
        murmur3(name.at, name.size, hash);
        vote = rint(weights[i] / vote_unit); /* whole numbers: their sums are exact */
        for (int bit = 0; bit < 64; bit++) {
            if ((int)(class_bits >> bit & 1) != is_label) continue;
            if (is_label) vote = rint(weights[i] * loudness(hash[0], bit) / vote_unit);
            votes[bit] += vote;
            if (hash[0] >> bit & 1) ayes[bit] += vote;
        }
    }
    if (voters[0] > (size_t)max_labels || voters[1] > (size_t)max_labels) unsure(page, "names clash");
    for (int bit = 0; bit < 64; bit++)
        if (2 * ayes[bit] > votes[bit]) bits |= 1ull << bit;
    return bits;
}

static PyObject *answer_of(Page *page) {
    PyObject **lists = page->lists;
    unsigned long long bits = page->why == SURE ? structure(page) : 0;
    if (page->why != SURE) return PyErr_Occurred() ? NULL : PyUnicode_FromString(page->why);
    return Py_BuildValue("(OOOOOOO)nKOO", lists[TEXTS], lists[TAGS], lists[SIZES], lists[SHARES], lists[BOXES],
                         lists[HINTS], lists[HIDDEN_TEXTS], (Py_ssize_t)page->node_count, bits, lists[ROWS],
                         lists[TITLES]);
}

static void page_free(Page *page) {
    void *arrays[] = {page->path, page->own_tags, page->text, page->decoded, page->nodes, page->weights,
                      page->said};
    for (size_t tag = 0; tag < page->own_names.count; tag++) Py_DECREF(page->own_tags[tag].text);
    for (int list = 0; list < LISTS; list++) Py_XDECREF(page->lists[list]);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) PyMem_RawFree(arrays[i]);
    names_free(&page->own_names);
    names_free(&page->labels);
    names_free(&page->node_names);
}

static int page_begin(Page *page, Text source) {
    int is_marked = source.size >= 3 && memcmp(source.at, "\xEF\xBB\xBF", 3) == 0;
    for (int list = 0; list < LISTS; list++)
        if ((page->lists[list] = PyList_New(0)) == NULL) return failed(page);
    page->end = source.at + source.size;
    page->block_tag = BODY;
    page->text = PyMem_RawMalloc(2 * source.size + 64); /* a reference may be shorter than what it means */
    if (page->text == NULL) return failed(page);
    return (is_marked || memchr(source.at, 0, source.size) != NULL) ? unsure(page, "odd bytes") : 1;
}

/* read_markup(source, max_depth): its blocks, outline, head and titles, or a rule that it breaks. */
PyObject *read_markup(PyObject *module, PyObject *args) {
    Page page = {0};
    PyObject *source, *answer;
    Py_ssize_t max_depth;
    Text text;
    (void)module;
    if (!PyArg_ParseTuple(args, "Sn", &source, &max_depth)) return NULL;
    if (known_names.count == 0) return PyErr_Format(PyExc_ValueError, "set_markup comes first");
    text = (Text){(const uint8_t *)PyBytes_AS_STRING(source), (size_t)PyBytes_GET_SIZE(source)};
    page.max_depth = (size_t)max_depth;
    if (page_begin(&page, text)) read_page(&page, text.at);
    answer = answer_of(&page);
    page_free(&page);
    return answer;
}

/* ---- what is set up */

static int know_tag(PyObject *row, Py_ssize_t number) {
    PyObject *text;
    unsigned long traits;
    unsigned long long bit, ended;
    Py_ssize_t size;
    const char *name;
    if (!PyArg_ParseTuple(row, "UkKK", &text, &traits, &bit, &ended)) return 0;
    if ((name = PyUnicode_AsUTF8AndSize(text, &size)) == NULL) return 0;
    if (name_of(&known_names, (const uint8_t *)name, (size_t)size) != (uint32_t)number) return 0;
    if (!RESERVE(known_tags, known_room, known_names.count)) return 0;
    known_tags[number] = (Tag){text, bit, ended, (uint32_t)traits};
    return 1;
}

static int know_reference(PyObject *row, Py_ssize_t number) {
    const char *name, *text;
    Py_ssize_t size, made;
    if (!PyArg_ParseTuple(row, "s#s#", &name, &size, &text, &made)) return 0;
    if (made > REFERENCE_ROOM - 2 || !RESERVE(references, references_room, (size_t)number + 1)) return 0;
    references[number] = (Reference){(uint8_t)made, {0}};
    memcpy(references[number].text, text, (size_t)made);
    return name_of(&reference_names, (const uint8_t *)name, (size_t)size) == (uint32_t)number;
}

static int know_all(PyObject *rows, int (*know)(PyObject *, Py_ssize_t)) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(rows); i++) {
        PyObject *row = PySequence_Fast_GET_ITEM(rows, i);
        if (!PyTuple_Check(row)) PyErr_Format(PyExc_TypeError, "a tag or reference is a tuple");
        if (PyErr_Occurred() || !know(row, i)) return 0;
    }
    return 1;
}

/* set_markup([(reference, text)], [(tag, traits, bit, ended)], hint_of, hides, bounds, class_bits, min_u, vote) */
PyObject *set_markup(PyObject *module, PyObject *args) {
    PyObject *rows, *texts, *hint, *hiding;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!OO(nnnnnn)Kdd", &PyList_Type, &texts, &PyList_Type, &rows, &hint, &hiding,
                          &permalink_levels, &max_labels, &max_name_chars, &max_titles, &max_attributes,
                          &max_reference, &class_bits, &min_u, &vote_unit))
        return NULL;
    if (known_names.count) Py_RETURN_NONE;
    for (int c = 0; c < 256; c++) kinds[c] = kinds_of(c);
    Py_XSETREF(hint_of, Py_NewRef(hint));
    Py_XSETREF(hides, Py_NewRef(hiding));
    Py_XSETREF(known_rows, PyList_AsTuple(rows));
    if (known_rows != NULL && know_all(texts, know_reference) && know_all(known_rows, know_tag) &&
        known_names.count > A && reference_names.count)
        Py_RETURN_NONE;
    names_free(&known_names);
    names_free(&reference_names);
    return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "a tag or reference is missing, long or there twice");
}
