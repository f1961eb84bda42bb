/* A tree of lxml in; its blocks and its outline out, without a Python object an element.
 *
 * page/elements.py, blocks.py and structure.py say what is computed; they are the reference, and this
 * gives the same answers, or none: then they are asked. libxml2's nodes are read, never written. No
 * pointer to one outlives a call. All functions hold the GIL.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <libxml/tree.h>
#include <libxml/xmlversion.h>

#include "etree.h"

#include "_murmur3.h"

/* As in blocks.py: what an element is to the reader. */
enum { INLINE = 0, LINK, BREAK, HIDDEN, BLOCK, BOX };
/* As in structure.py: what a tag is to the outline. */
enum { IS_NODE = 0, IS_INLINE, IS_LEAF, IS_LEFT_OUT };
/* The traits of a tag, as page/fingerprint.py packs them: its kind, its role, and these. */
enum { KIND = 7, ROLE_SHIFT = 3, ROLE = 3, IS_SVG = 32, ENDS_SVG = 64, HOLDS_HTML = 128, IS_A = 256, HINTED = 512 };

#define NO_DEPTH 0xFFFFFFFFu
#define NOBODY 0xFFFFFFFFu
#define MAX_CLASHES 10000000 /* slots that were taken; a page that chooses its names gets no more */

static PyObject *traits_of, *hint_of, *hides; /* a dict, and two callables of blocks.py */
static PyTypeObject *element_type;
static Py_ssize_t permalink_levels, max_labels, max_name_chars;

/* ---- names: texts by their numbers, in the order in which they came */

typedef struct {
    uint64_t hash; /* the low half of its murmur3 */
    size_t start, size;
} Name;

typedef struct {
    Name *all;
    uint8_t *bytes;
    uint32_t *slots; /* number + 1; 0 for none */
    size_t count, room, used, bytes_room, mask, clashes;
} Names;

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

/* The number of a text; NOBODY without memory, or after too many clashes. */
static uint32_t name_of(Names *names, const uint8_t *text, size_t size) {
    uint64_t hash, rest;
    size_t at;
    if (2 * names->count >= names->mask && !names_widen(names)) return NOBODY;
    murmur3(text, size, &hash, &rest);
    for (at = hash & names->mask; names->slots[at]; at = (at + 1) & names->mask) {
        uint32_t number = names->slots[at] - 1;
        Name *name = &names->all[number];
        if (name->hash == hash && name->size == size &&
            memcmp(names->bytes + name->start, text, size) == 0)
            return number;
        if (++names->clashes > MAX_CLASHES) return NOBODY;
    }
    if (!RESERVE(names->all, names->room, names->count + 1)) return NOBODY;
    if (!RESERVE(names->bytes, names->bytes_room, names->used + size)) return NOBODY;
    memcpy(names->bytes + names->used, text, size);
    names->all[names->count] = (Name){hash, names->used, size};
    names->used += size;
    names->slots[at] = (uint32_t)++names->count;
    return (uint32_t)names->count - 1;
}

static void names_free(Names *names) {
    PyMem_RawFree(names->all);
    PyMem_RawFree(names->bytes);
    PyMem_RawFree(names->slots);
}

/* ---- one walk */

typedef struct {
    const xmlNode *node;
    uint32_t tag, depth;
} Element;

typedef struct {
    PyObject *text; /* owned */
    unsigned traits;
    uint32_t label; /* of the tag alone */
} Tag;

typedef struct {
    PyObject *text, *tag; /* owned; borrowed */
    Py_ssize_t size;
    double link_share;
} Block;

typedef struct {
    size_t start;
    PyObject *row; /* owned */
} Range;

typedef struct {
    const char *text;
    size_t size;
} Piece;

typedef struct {
    uint32_t element;
    int kind;
    size_t first; /* of its blocks */
} Open;

typedef struct {
    Element *elements;
    Tag *tags;
    Block *blocks;
    Range *boxes, *hints;
    Piece *pieces;
    Open *path;
    uint8_t *scratch;
    PyObject *hidden; /* a list */
    Names tag_names, labels, node_names; /* a node's is the numbers of its parent and label */
    size_t element_count, element_room, tag_count, tag_room, block_count, block_room, box_count, box_room;
    size_t hint_count, hint_room, piece_count, piece_room, path_count, path_room, scratch_room;
    size_t linked, links;
    int refused; /* whether the Python is to be asked; without an exception */
} Walk;

/* Functions that may fail return 0 then, or NOBODY or NULL: with an exception, or `refused`. */
static int refuse(Walk *walk) {
    walk->refused = 1;
    return 0;
}

/* Says why something failed that does not say so itself. */
static int failed(Walk *walk) {
    if (walk->refused || PyErr_Occurred()) return 0;
    if (walk->tag_names.clashes > MAX_CLASHES || walk->labels.clashes > MAX_CLASHES ||
        walk->node_names.clashes > MAX_CLASHES)
        return refuse(walk);
    PyErr_NoMemory();
    return 0;
}

/* A str of valid UTF-8; refuses any other. */
static PyObject *decoded(Walk *walk, const char *text, size_t size) {
    PyObject *made = PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "strict");
    if (made == NULL && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
        PyErr_Clear();
        refuse(walk);
    }
    return made;
}

static uint32_t tag_of(Walk *walk, const char *name) {
    Names *names = &walk->tag_names;
    size_t before = names->count;
    uint32_t number = name_of(names, (const uint8_t *)name, strlen(name));
    PyObject *known;
    Tag *tag;
    if (number == NOBODY || number < before) return number;
    if (!RESERVE(walk->tags, walk->tag_room, names->count)) return NOBODY;
    tag = &walk->tags[number];
    *tag = (Tag){decoded(walk, name, strlen(name)), BOX, NOBODY};
    walk->tag_count = names->count;
    if (tag->text == NULL) return NOBODY;
    if ((known = PyDict_GetItemWithError(traits_of, tag->text)) != NULL)
        tag->traits = (unsigned)PyLong_AsUnsignedLong(known);
    return number;
}

static int is_text(const xmlNode *node) {
    return node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE;
}

/* The elements of a tree, each before its children. */
static int collect(Walk *walk, const xmlNode *root) {
    const xmlNode *node = root;
    uint32_t depth = 0;
    for (;;) {
        if (node->type == XML_ELEMENT_NODE) {
            uint32_t tag;
            if (node->ns != NULL || walk->element_count >= NOBODY / 2) return refuse(walk);
            if ((tag = tag_of(walk, (const char *)node->name)) == NOBODY) return failed(walk);
            if (!RESERVE(walk->elements, walk->element_room, walk->element_count + 1))
                return failed(walk);
            walk->elements[walk->element_count++] = (Element){node, tag, depth};
            if (node->children != NULL) {
                node = node->children;
                depth++;
                continue;
            }
        } else if (!is_text(node)) {
            return refuse(walk);
        }
        while (node != root && node->next == NULL) {
            node = node->parent;
            depth--;
        }
        if (node == root) return 1;
        node = node->next;
    }
}

/* elements._past_svg */
static size_t past_svg(Walk *walk, size_t start, uint32_t span) {
    Element *elements = walk->elements;
    uint32_t level = elements[start].depth, sealed = NO_DEPTH;
    size_t number = start + 1;
    for (; number < walk->element_count; number++) {
        uint32_t depth = elements[number].depth;
        unsigned traits = walk->tags[elements[number].tag].traits;
        if (depth <= level) return number;
        if (depth > sealed) continue;
        sealed = NO_DEPTH;
        if (traits & ENDS_SVG) {
            for (size_t outer = number; outer-- > start;) {
                if (elements[outer].depth < depth) {
                    depth = elements[outer].depth;
                    if (walk->tags[elements[outer].tag].traits & IS_SVG) elements[outer].tag = span;
                }
            }
            return number;
        }
        if (traits & HOLDS_HTML) sealed = depth;
    }
    return number;
}

static int end_svgs(Walk *walk) {
    uint32_t span = tag_of(walk, "span");
    if (span == NOBODY) return failed(walk);
    for (size_t number = 0; number < walk->element_count;)
        number = walk->tags[walk->elements[number].tag].traits & IS_SVG ? past_svg(walk, number, span) : number + 1;
    return 1;
}

/* ---- attributes */

/* The text of an attribute, or of an element without others; NULL where it has another form. */
static const char *value_of(Walk *walk, const xmlNode *value) {
    if (value == NULL) return "";
    if (value->type == XML_TEXT_NODE && value->next == NULL)
        return value->content == NULL ? "" : (const char *)value->content;
    refuse(walk);
    return NULL;
}

static const char *attribute_of(Walk *walk, const xmlNode *node, const char *name) {
    const xmlAttr *attribute = node->properties;
    while (attribute && (*attribute->name != (xmlChar)*name || attribute->ns ||
                         strcmp((const char *)attribute->name, name) != 0))
        attribute = attribute->next;
    return attribute == NULL ? NULL : value_of(walk, attribute->children);
}

/* The same as a str; "" where there is none. */
static PyObject *attribute_text(Walk *walk, const xmlNode *node, const char *name) {
    const char *value = attribute_of(walk, node, name);
    return decoded(walk, value ? value : "", value ? strlen(value) : 0);
}

/* ---- white space, as Python's str has it */

/* The bytes of the white space that begins here, 0 for none; the text ends with a NUL. */
static inline size_t space_at(const char *text) {
    const uint8_t *p = (const uint8_t *)text;
    if (p[0] < 0x80) return p[0] == ' ' || (p[0] >= 9 && p[0] <= 13) || (p[0] >= 0x1C && p[0] <= 0x1F);
    if (p[0] == 0xC2) return p[1] == 0x85 || p[1] == 0xA0 ? 2 : 0;
    if (p[0] == 0xE1) return p[1] == 0x9A && p[2] == 0x80 ? 3 : 0;
    if (p[0] == 0xE3) return p[1] == 0x80 && p[2] == 0x80 ? 3 : 0;
    if (p[0] != 0xE2) return 0;
    if (p[1] == 0x81) return p[2] == 0x9F ? 3 : 0;
    return p[1] == 0x80 && ((p[2] >= 0x80 && p[2] <= 0x8A) || p[2] == 0xA8 || p[2] == 0xA9 || p[2] == 0xAF)
               ? 3
               : 0;
}

static int is_space(const char *text) {
    size_t size;
    while ((size = space_at(text)) != 0) text += size;
    return *text == 0;
}

/* The characters of these pieces together, without white space at both ends. */
static size_t stripped_length(const Piece *pieces, size_t count) {
    size_t length = 0, last = 0;
    for (size_t i = 0; i < count; i++) {
        for (const char *at = pieces[i].text; *at;) {
            size_t space = space_at(at);
            if (space) {
                at += space;
                if (last) length++;
            } else {
                at++;
                while (((uint8_t)*at & 0xC0) == 0x80) at++;
                last = ++length;
            }
        }
    }
    return last;
}

/* ---- blocks */

/* Takes the text that begins with this node, as lxml's `text` and `tail` have it. */
static int take_text(Walk *walk, const xmlNode *node) {
    size_t before = walk->piece_count;
    int blank = 1;
    for (; node != NULL && is_text(node); node = node->next) {
        const char *text = (const char *)node->content;
        if (text == NULL || *text == 0) continue;
        blank = blank && (before || is_space(text));
        if (!RESERVE(walk->pieces, walk->piece_room, walk->piece_count + 1)) return failed(walk);
        walk->pieces[walk->piece_count++] = (Piece){text, strlen(text)};
    }
    if (before == 0 && blank) walk->piece_count = 0;
    if (walk->links && walk->piece_count > before)
        walk->linked += stripped_length(walk->pieces + before, walk->piece_count - before);
    return 1;
}

/* Blocks.add: makes a block of the pieces, if there are any. */
static int end_block(Walk *walk, uint32_t tag) {
    size_t needed = 0, size = 0, length = 0;
    int pending = 0;
    uint8_t *out;
    PyObject *text;
    if (walk->piece_count == 0) return 1;
    for (size_t i = 0; i < walk->piece_count; i++) needed += walk->pieces[i].size;
    if (!RESERVE(walk->scratch, walk->scratch_room, needed + 1)) return failed(walk);
    out = walk->scratch;
    for (size_t i = 0; i < walk->piece_count; i++) {
        for (const char *at = walk->pieces[i].text; *at;) {
            size_t space = space_at(at);
            if (space) {
                at += space;
                pending = size > 0;
                continue;
            }
            if (pending) {
                out[size++] = ' ';
                length++;
                pending = 0;
            }
            do out[size++] = (uint8_t)*at++;
            while (((uint8_t)*at & 0xC0) == 0x80);
            length++;
        }
    }
    if ((text = decoded(walk, (const char *)out, size)) == NULL) return 0;
    if (!RESERVE(walk->blocks, walk->block_room, walk->block_count + 1)) {
        Py_DECREF(text);
        return failed(walk);
    }
    walk->blocks[walk->block_count++] = (Block){
        text,
        walk->tags[tag].text,
        (Py_ssize_t)size,
        walk->linked == 0 ? 0.0 : walk->linked >= length ? 1.0 : (double)walk->linked / (double)length,
    };
    walk->piece_count = walk->linked = 0;
    return 1;
}

static int is_hidden(Walk *walk, const xmlNode *node) {
    const char *hidden = attribute_of(walk, node, "hidden");
    const char *aria = attribute_of(walk, node, "aria-hidden");
    const char *style = attribute_of(walk, node, "style");
    PyObject *text, *answer;
    int yes;
    if (hidden != NULL || (aria != NULL && strcmp(aria, "true") == 0)) return 1;
    if (style == NULL || (text = decoded(walk, style, strlen(style))) == NULL) return 0;
    answer = PyObject_CallOneArg(hides, text);
    Py_DECREF(text);
    yes = answer != NULL && answer != Py_None;
    Py_XDECREF(answer);
    return yes;
}

static void drop_ranges(Range *ranges, size_t *count, size_t start) {
    while (*count && ranges[*count - 1].start >= start) Py_DECREF(ranges[--*count].row);
}

static int set_aside(Walk *walk, size_t start) {
    for (size_t i = start; i < walk->block_count; i++)
        if (PyList_Append(walk->hidden, walk->blocks[i].text) < 0) return 0;
    while (walk->block_count > start) Py_DECREF(walk->blocks[--walk->block_count].text);
    drop_ranges(walk->boxes, &walk->box_count, start);
    drop_ranges(walk->hints, &walk->hint_count, start);
    return 1;
}

static int add_range(Range *ranges, size_t *count, size_t start, PyObject *row) {
    if (row != NULL) ranges[(*count)++] = (Range){start, row};
    return row != NULL;
}

/* blocks.hint_of */
static int add_hint(Walk *walk, const Open *closed, PyObject *tag, PyObject *name) {
    const xmlNode *node = walk->elements[closed->element].node;
    PyObject *asked[4] = {tag, attribute_text(walk, node, "role"), Py_NewRef(name),
                          attribute_text(walk, node, "id")};
    PyObject *hint = NULL;
    int done = 0;
    for (int i = 1; i < 4; i++)
        if (asked[i] != NULL) Py_XSETREF(asked[i], PyUnicode_Substring(asked[i], 0, max_name_chars));
    if (asked[1] != NULL && asked[2] != NULL && asked[3] != NULL)
        hint = PyObject_Vectorcall(hint_of, asked, 4, NULL);
    if (hint == Py_None)
        done = 1;
    else if (hint != NULL && RESERVE(walk->hints, walk->hint_room, walk->hint_count + 1))
        done = add_range(walk->hints, &walk->hint_count, closed->first,
                         Py_BuildValue("nnO", (Py_ssize_t)closed->first,
                                       (Py_ssize_t)walk->block_count, hint));
    for (int i = 1; i < 4; i++) Py_XDECREF(asked[i]);
    Py_XDECREF(hint);
    return done ? 1 : failed(walk);
}

/* Blocks.close */
static int close_box(Walk *walk, const Open *closed) {
    const Element *element = &walk->elements[closed->element];
    PyObject *tag = walk->tags[element->tag].text, *name;
    int done = 0;
    if (element->node->properties != NULL && is_hidden(walk, element->node))
        return set_aside(walk, closed->first);
    if (walk->refused || PyErr_Occurred()) return 0;
    if (closed->kind != BOX) return 1;
    if ((name = attribute_text(walk, element->node, "class")) == NULL) return 0;
    if (RESERVE(walk->boxes, walk->box_room, walk->box_count + 1))
        done = add_range(walk->boxes, &walk->box_count, closed->first,
                         Py_BuildValue("nnOO", (Py_ssize_t)closed->first,
                                       (Py_ssize_t)walk->block_count, tag, name));
    if (done && (element->node->properties != NULL || walk->tags[element->tag].traits & HINTED))
        done = add_hint(walk, closed, tag, name);
    Py_DECREF(name);
    return done ? 1 : failed(walk);
}

static int is_same(const char *target, const char *name) {
    return name != NULL && strcmp(target, name) == 0;
}

/* blocks._leads_away, of an `a` whose target is on the page, or not given */
static int leads_away(Walk *walk, const xmlNode *link, const char *target) {
    const char *name = attribute_of(walk, link, "name"), *ident = attribute_of(walk, link, "id");
    if (target == NULL) return name == NULL && ident == NULL;
    if (target[1] == 0) return 1;
    if (is_same(target + 1, name) || is_same(target + 1, ident)) return 0;
    for (size_t up = 1; up <= (size_t)permalink_levels && up <= walk->path_count; up++) {
        const Open *around = &walk->path[walk->path_count - up];
        if (is_same(target + 1, attribute_of(walk, walk->elements[around->element].node, "id")))
            return 0;
    }
    return 1;
}

/* blocks.read */
static int read_blocks(Walk *walk, size_t start) {
    uint32_t level = walk->elements[start].depth, hidden = NO_DEPTH;
    uint32_t body_tag = tag_of(walk, "body"), div_tag = tag_of(walk, "div"), block_tag = body_tag;
    if (body_tag == NOBODY || div_tag == NOBODY) return failed(walk);
    if (!take_text(walk, walk->elements[start].node->children)) return 0;
    for (size_t number = start + 1; number <= walk->element_count; number++) {
        int is_last = number == walk->element_count || walk->elements[number].depth <= level;
        uint32_t depth = is_last ? level : walk->elements[number].depth;
        const xmlNode *node;
        unsigned traits;
        int kind;
        if (depth > hidden) continue;
        while (walk->path_count && walk->path_count >= depth - level) {
            Open closed = walk->path[--walk->path_count];
            if (closed.kind >= BLOCK) {
                if (!end_block(walk, block_tag)) return 0;
                block_tag = div_tag;
                if (closed.first < walk->block_count && !close_box(walk, &closed)) return 0;
            } else if (closed.kind == LINK) {
                walk->links--;
            }
            if (!take_text(walk, walk->elements[closed.element].node->next)) return 0;
        }
        if (is_last) break;
        node = walk->elements[number].node;
        traits = walk->tags[walk->elements[number].tag].traits;
        kind = (int)(traits & KIND);
        hidden = kind == HIDDEN ? depth : NO_DEPTH;
        if (kind >= BLOCK) {
            if (!end_block(walk, block_tag)) return 0;
            block_tag = walk->elements[number].tag;
        } else if (kind == LINK) {
            const char *target = attribute_of(walk, node, "href");
            int inside = (target == NULL || target[0] == '#') && traits & IS_A;
            if (inside && !leads_away(walk, node, target))
                kind = INLINE;
            else
                walk->links++;
            if (walk->refused) return 0;
        } else if (kind == BREAK && walk->piece_count) {
            if (!RESERVE(walk->pieces, walk->piece_room, walk->piece_count + 1))
                return failed(walk);
            walk->pieces[walk->piece_count++] = (Piece){" ", 1};
        }
        if (!RESERVE(walk->path, walk->path_room, walk->path_count + 1)) return failed(walk);
        walk->path[walk->path_count++] = (Open){(uint32_t)number, kind, walk->block_count};
        if (kind != HIDDEN && !take_text(walk, node->children)) return 0;
    }
    return end_block(walk, block_tag);
}

/* ---- the outline */

typedef struct {
    uint32_t parent, label, tag, size;
} Node;

typedef struct {
    Node *nodes;
    uint32_t *path;
    double *of_tags, *of_labels;
    size_t node_count, node_room, path_room;
} Outline;

/* The number of a node's child of this label, which is made where there is none; NOBODY: failed. */
static uint32_t child_of(Walk *walk, Outline *outline, Node child) {
    uint32_t key[2] = {child.parent, child.label};
    uint32_t number = name_of(&walk->node_names, (const uint8_t *)key, sizeof key);
    if (number == NOBODY || number < outline->node_count) return number;
    if (!RESERVE(outline->nodes, outline->node_room, outline->node_count + 1)) return NOBODY;
    outline->nodes[outline->node_count++] = child;
    return number;
}

/* The bytes of UTF-8 that all digits beyond ASCII begin with, which \d finds too. */
#define DIGITS_BEGIN "\xD9\xDB\xDF\xE0\xE1\xEA\xEF\xF0"
#define IS_EMOJI(at) (memcmp(at, "\xF0\x9F", 2) == 0 && (uint8_t)(at)[2] != 0xAF)

/* structure._label: the number of tag.class, with the digits of the first class as 0. */
static uint32_t label_of(Walk *walk, uint32_t tag, const char *names) {
    const Name *name = &walk->tag_names.all[tag];
    size_t size = name->size;
    const char *at = names;
    while (at && space_at(at)) at += space_at(at);
    if (at == NULL || *at == 0) {
        if (walk->tags[tag].label == NOBODY)
            walk->tags[tag].label = name_of(&walk->labels, walk->tag_names.bytes + name->start, size);
        return walk->tags[tag].label;
    }
    if (!RESERVE(walk->scratch, walk->scratch_room, size + 1 + strlen(at))) return NOBODY;
    memcpy(walk->scratch, walk->tag_names.bytes + name->start, size);
    walk->scratch[size++] = '.';
    for (; *at && !space_at(at); at++) {
        int is_digit = *at >= '0' && *at <= '9';
        if ((uint8_t)*at >= 0xD9 && strchr(DIGITS_BEGIN, *at) && !IS_EMOJI(at)) {
            refuse(walk);
            return NOBODY;
        }
        if (!is_digit || at == names || at[-1] < '0' || at[-1] > '9')
            walk->scratch[size++] = is_digit ? '0' : (uint8_t)*at;
    }
    return name_of(&walk->labels, walk->scratch, size);
}

/* structure.outline */
static int read_outline(Walk *walk, Outline *outline) {
    uint32_t closed = NO_DEPTH, tag = walk->elements[0].tag, label = label_of(walk, tag, NULL);
    if (label == NOBODY || child_of(walk, outline, (Node){NOBODY, label, tag, 1}) == NOBODY)
        return failed(walk);
    if (!RESERVE(outline->path, outline->path_room, 1)) return failed(walk);
    outline->path[0] = 0;
    for (size_t number = 1; number < walk->element_count; number++) {
        const Element *element = &walk->elements[number];
        unsigned role = walk->tags[element->tag].traits >> ROLE_SHIFT & ROLE;
        const char *names;
        uint32_t node;
        if (element->depth > closed) continue;
        closed = role >= IS_LEAF ? element->depth : NO_DEPTH;
        if (role == IS_LEFT_OUT) continue;
        node = outline->path[element->depth - 1];
        names = attribute_of(walk, element->node, "class");
        if (walk->refused) return 0;
        if ((names && *names) || role != IS_INLINE) {
            if ((label = label_of(walk, element->tag, names)) == NOBODY) return failed(walk);
            node = child_of(walk, outline, (Node){node, label, element->tag, 1});
            if (node == NOBODY) return failed(walk);
        }
        if (!RESERVE(outline->path, outline->path_room, element->depth + 1)) return failed(walk);
        outline->path[element->depth] = node;
    }
    return 1;
}

/* Outline.weights, and of each tag and label that of its heaviest node. */
static int weigh(Walk *walk, Outline *outline) {
    Node *nodes = outline->nodes;
    outline->of_tags = PyMem_RawCalloc(walk->tag_names.count, sizeof(double));
    outline->of_labels = PyMem_RawCalloc(walk->labels.count, sizeof(double));
    if (outline->of_tags == NULL || outline->of_labels == NULL) return failed(walk);
    for (size_t number = outline->node_count; number-- > 1;)
        nodes[nodes[number].parent].size += nodes[number].size;
    outline->of_tags[nodes[0].tag] = 1.0;
    for (size_t number = 1; number < outline->node_count; number++) {
        const Node *node = &nodes[number];
        double filled = (double)node->size / nodes[node->parent].size, left = 2 * (1 - filled);
        double weight = (double)node->size / nodes[0].size * (left < 1.0 ? left : 1.0);
        if (weight > outline->of_tags[node->tag]) outline->of_tags[node->tag] = weight;
        if (weight > outline->of_labels[node->label]) outline->of_labels[node->label] = weight;
    }
    return 1;
}

static void outline_free(Outline *outline) {
    PyMem_RawFree(outline->nodes);
    PyMem_RawFree(outline->path);
    PyMem_RawFree(outline->of_tags);
    PyMem_RawFree(outline->of_labels);
}

/* ---- answers */

/* The number of names that have a weight; their hashes and weights are appended. */
static size_t take_voters(const Names *names, const double *weights, uint64_t *hashes, double *voting) {
    size_t count = 0;
    for (size_t number = 0; number < names->count; number++) {
        if (weights[number] <= 0.0) continue;
        hashes[count] = names->all[number].hash;
        voting[count++] = weights[number];
    }
    return count;
}

/* (nodes, rows, weights, rows of tags): what Kernel.outline takes */
static PyObject *outline_answer(Walk *walk) {
    Outline outline = {0};
    uint64_t *hashes = NULL;
    double *voting = NULL;
    size_t names = 0, tags, labels;
    PyObject *answer = NULL;
    if (!read_outline(walk, &outline) || !weigh(walk, &outline)) goto end;
    names = walk->tag_names.count + walk->labels.count;
    hashes = PyMem_RawMalloc(names * sizeof *hashes);
    voting = PyMem_RawMalloc(names * sizeof *voting);
    if (hashes == NULL || voting == NULL) {
        failed(walk);
        goto end;
    }
    tags = take_voters(&walk->tag_names, outline.of_tags, hashes, voting);
    labels = take_voters(&walk->labels, outline.of_labels, hashes + tags, voting + tags);
    if (tags > (size_t)max_labels || labels > (size_t)max_labels)
        refuse(walk);
    else
        answer = Py_BuildValue("ny#y#n", (Py_ssize_t)outline.node_count, (const char *)hashes,
                               (Py_ssize_t)((tags + labels) * sizeof *hashes), (const char *)voting,
                               (Py_ssize_t)((tags + labels) * sizeof *voting), (Py_ssize_t)tags);
end:
    PyMem_RawFree(hashes);
    PyMem_RawFree(voting);
    outline_free(&outline);
    return answer;
}

static PyObject *list_of_ranges(const Range *ranges, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++)
        PyList_SET_ITEM(list, (Py_ssize_t)i, Py_NewRef(ranges[i].row));
    return list;
}

/* The columns of Blocks: texts, tags, sizes, link shares, boxes, hints, hidden texts */
static PyObject *blocks_answer(Walk *walk) {
    PyObject *columns[4] = {NULL}, *boxes = NULL, *hints = NULL, *answer = NULL;
    size_t start = 0;
    for (size_t number = walk->element_count; number-- > 1;)
        if (walk->elements[number].depth == 1 &&
            strcmp((const char *)walk->elements[number].node->name, "body") == 0)
            start = number; /* the first */
    if (!read_blocks(walk, start)) return NULL;
    for (int column = 0; column < 4; column++)
        if ((columns[column] = PyList_New((Py_ssize_t)walk->block_count)) == NULL) goto end;
    for (size_t i = 0; i < walk->block_count; i++) {
        const Block *block = &walk->blocks[i];
        PyObject *size = PyLong_FromSsize_t(block->size), *share = PyFloat_FromDouble(block->link_share);
        PyList_SET_ITEM(columns[0], (Py_ssize_t)i, Py_NewRef(block->text));
        PyList_SET_ITEM(columns[1], (Py_ssize_t)i, Py_NewRef(block->tag));
        PyList_SET_ITEM(columns[2], (Py_ssize_t)i, size);
        PyList_SET_ITEM(columns[3], (Py_ssize_t)i, share);
        if (size == NULL || share == NULL) goto end;
    }
    boxes = list_of_ranges(walk->boxes, walk->box_count);
    hints = list_of_ranges(walk->hints, walk->hint_count);
    if (boxes != NULL && hints != NULL)
        answer = PyTuple_Pack(7, columns[0], columns[1], columns[2], columns[3], boxes, hints,
                              walk->hidden);
end:
    for (int column = 0; column < 4; column++) Py_XDECREF(columns[column]);
    Py_XDECREF(boxes);
    Py_XDECREF(hints);
    return answer;
}

static void walk_free(Walk *walk) {
    for (size_t tag = 0; tag < walk->tag_count; tag++) Py_XDECREF(walk->tags[tag].text);
    for (size_t i = 0; i < walk->block_count; i++) Py_DECREF(walk->blocks[i].text);
    drop_ranges(walk->boxes, &walk->box_count, 0);
    drop_ranges(walk->hints, &walk->hint_count, 0);
    Py_XDECREF(walk->hidden);
    PyMem_RawFree(walk->elements);
    PyMem_RawFree(walk->tags);
    PyMem_RawFree(walk->blocks);
    PyMem_RawFree(walk->boxes);
    PyMem_RawFree(walk->hints);
    PyMem_RawFree(walk->pieces);
    PyMem_RawFree(walk->path);
    PyMem_RawFree(walk->scratch);
    names_free(&walk->tag_names);
    names_free(&walk->labels);
    names_free(&walk->node_names);
}

PyDoc_STRVAR(walk_doc, "walk(root): the columns of its blocks, and its outline; None where it won't.");
static PyObject *walk(PyObject *module, PyObject *root) {
    Walk walk = {0};
    PyObject *blocks = NULL, *outline = NULL, *answer = NULL;
    const xmlNode *node;
    (void)module;
    if (element_type == NULL || !PyObject_TypeCheck(root, element_type))
        return PyErr_Format(PyExc_TypeError, "an element of lxml is needed");
    node = ((struct LxmlElement *)root)->_c_node;
    walk.hidden = PyList_New(0);
    if (walk.hidden == NULL) return NULL;
    if (collect(&walk, node) && end_svgs(&walk) && (blocks = blocks_answer(&walk)) != NULL &&
        (outline = outline_answer(&walk)) != NULL)
        answer = PyTuple_Pack(2, blocks, outline);
    Py_XDECREF(blocks);
    Py_XDECREF(outline);
    walk_free(&walk);
    if (answer == NULL && walk.refused && !PyErr_Occurred()) Py_RETURN_NONE;
    return answer;
}

PyDoc_STRVAR(head_doc, "head(root): (tag, rel, href, property, content) of what is in its head, or None.");
static PyObject *head(PyObject *module, PyObject *root) {
    Walk walk = {0};
    PyObject *rows;
    const xmlNode *found;
    (void)module;
    if (element_type == NULL || !PyObject_TypeCheck(root, element_type)) Py_RETURN_NONE;
    if ((rows = PyList_New(0)) == NULL) return NULL;
    found = ((struct LxmlElement *)root)->_c_node->children;
    while (found && (found->type != XML_ELEMENT_NODE || strcmp((const char *)found->name, "head") != 0))
        found = found->next;
    for (const xmlNode *part = found ? found->children : NULL; part; part = part->next) {
        const char *name = (const char *)part->name, *content;
        PyObject *row;
        int done;
        if (part->type != XML_ELEMENT_NODE) continue;
        content = strcmp(name, "title") ? attribute_of(&walk, part, "content") : value_of(&walk, part->children);
        row = Py_BuildValue("szzzz", name, attribute_of(&walk, part, "rel"), attribute_of(&walk, part, "href"),
                            attribute_of(&walk, part, "property"), content);
        done = row != NULL && PyList_Append(rows, row) == 0;
        Py_XDECREF(row);
        if (done && !walk.refused) continue;
        Py_DECREF(rows);
        if (!walk.refused && !PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) return NULL;
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    return rows;
}

PyDoc_STRVAR(set_up_doc, "set_up(element type, traits of tags, hint of a box, whether a style hides, three bounds)");
static PyObject *set_up(PyObject *module, PyObject *args) {
    PyObject *type, *traits, *hint, *hiding;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!OOnnn", &PyType_Type, &type, &PyDict_Type, &traits, &hint, &hiding,
                          &permalink_levels, &max_labels, &max_name_chars))
        return NULL;
    if (((PyTypeObject *)type)->tp_basicsize != sizeof(struct LxmlElement))
        return PyErr_Format(PyExc_ImportError, "lxml's elements have another size");
    Py_XSETREF(element_type, (PyTypeObject *)Py_NewRef(type));
    Py_XSETREF(traits_of, Py_NewRef(traits));
    Py_XSETREF(hint_of, Py_NewRef(hint));
    Py_XSETREF(hides, Py_NewRef(hiding));
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"set_up", set_up, METH_VARARGS, set_up_doc},
    {"walk", walk, METH_O, walk_doc},
    {"head", head, METH_O, head_doc},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_walk", "See page/fingerprint.py.", -1, functions, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__walk(void) {
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && PyModule_AddIntConstant(module, "LIBXML_VERSION", LIBXML_VERSION) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
