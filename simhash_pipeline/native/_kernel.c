/* Text to hashes of tokens, to votes, and bytes to a sample, without a Python object a token.
 *
 * page/segment.py, hashing.py, simhash.py and visible.py say what is computed; they are the
 * reference, and this gives the same numbers. All functions hold the GIL.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <inttypes.h>
#include <math.h>

#include "_murmur3.h"

PyObject *set_rules(PyObject *, PyObject *), *main_blocks(PyObject *, PyObject *);    /* _rules.c */
PyObject *kept_sample(PyObject *, PyObject *), *similarity(PyObject *, PyObject *); /* _judge.c */
PyObject *near_words(PyObject *, PyObject *), *recurring(PyObject *, PyObject *);
PyObject *set_markup(PyObject *, PyObject *), *read_markup(PyObject *, PyObject *); /* _markup.c */

#define BMP 0x10000u
#define HAN_FIRST 0x4E00u
#define HAN_COUNT 0x51D6 /* to U+9FD5 */
#define RUN_ROOM 512
#define HASH_SIZE 16 /* bytes of a word's hash */

/* What a character is to the cut. */
enum { IS_NONE = 0, IS_WORD = 1, IS_MARK = 2, IS_HAN = 4, IS_UNSPACED = 8 };
/* Entries of the fold table that are no character. */
enum { ASK = 0xFFFFFFFFu, DROPPED = 0xFFFFFFFEu, ELLIPSIS = 0xFFFFFFFDu };
/* Of its other entries: see folding.py's `folds`. */
#define FIRST (1u << 22)
#define SECOND (1u << 23)
#define RANK_SHIFT 24
#define MAX_MARKS 30
#define LINE_ROOM 128
/* Answers of `hashed` that are no length. */
enum { UNKNOWN_CHARACTER = -1, NO_DICTIONARY = -2 };

static uint8_t kinds[BMP];
static uint32_t folds[BMP];
static uint64_t salt = GOLDEN;
static Py_ssize_t max_run, max_folded; /* characters */

/* Dictionary: a trie in one open-addressed table of parent << 15 | character, child. The node of a
 * first character is its number. Most look-ups find nothing: a bit a key, in memory that a cache
 * holds, says so of nine out of ten. */
#define SLOT_BITS 20
#define SLOTS (1u << SLOT_BITS)
#define HAS_CHILDREN (1ull << SLOT_BITS)
#define KEY_SHIFT (SLOT_BITS + 1)
#define FILTER_BITS 22
#define MAX_NODES (SLOTS / 10 * 7)
#define NO_WORD 1.0 /* weights of words are logarithms, 0 at the most */
typedef struct {
    uint64_t key; /* above HAS_CHILDREN, which is above the node; 0 for none */
    double weight;
} Slot;
static Slot *slots = NULL;
static int is_loaded = 0; /* the dictionary */
static uint64_t filter[(1u << FILTER_BITS) / 64];
static uint32_t nodes = 0;
static double unknown_weight;
static double first_weights[HAN_COUNT]; /* of words of one character */
static double start_p[4], trans_p[4][4], emit_p[HAN_COUNT][4]; /* states B, M, E, S */

/* ---- sums of votes: those of 64 bits at once, four hashes at a time */

typedef struct {
    uint64_t count, held[4], ayes[64]; /* ayes: bit i of each of the 64 sums in word i */
} Votes;

/* Adds two words to a bit of each sum; what is carried. */
static inline uint64_t carried(uint64_t *ayes, uint64_t a, uint64_t b) {
    uint64_t one = *ayes ^ a, carry = (*ayes & a) | (one & b);
    *ayes = one ^ b;
    return carry;
}

static void votes_count(Votes *votes) {
    uint64_t *ayes = votes->ayes, *held = votes->held, twos = carried(ayes, held[0], held[1]);
    uint64_t carry = carried(ayes + 1, twos, carried(ayes, held[2], held[3]));
    for (ayes += 2; carry; ayes++) carry = carried(ayes, carry, 0);
    memset(held, 0, sizeof votes->held);
}

static inline void votes_add(Votes *votes, uint64_t hash) {
    votes->held[votes->count & 3] = hash;
    if ((++votes->count & 3) == 0) votes_count(votes);
}

/* The bits with more ayes than noes. */
static uint64_t votes_bits(Votes *votes) {
    uint64_t more = 0, equal = ~0ull;
    votes_count(votes);
    for (int bit = 63; bit >= 0; bit--) { /* is the sum more than half of the votes? */
        uint64_t half = votes->count / 2 >> bit & 1 ? ~0ull : 0, ayes = votes->ayes[bit];
        more |= equal & ayes & ~half;
        equal &= ~(ayes ^ half);
    }
    return more;
}

/* ---- dictionary and hidden Markov model */

static uint64_t key_of(uint32_t parent, uint32_t character) {
    return (uint64_t)parent << 15 | character;
}

static size_t place_of(uint64_t key) { return (size_t)(key * GOLDEN >> (64 - SLOT_BITS)); }

static Slot *slot_of(uint64_t key) {
    size_t at = place_of(key);
    while (slots[at].key != 0 && slots[at].key >> KEY_SHIFT != key) at = (at + 1) & (SLOTS - 1);
    return &slots[at];
}

static uint32_t node_of(const Slot *slot) { return (uint32_t)(slot->key & (SLOTS - 1)); }

static int may_hold(uint64_t key) {
    uint64_t bit = key * GOLDEN >> (64 - FILTER_BITS);
    return filter[bit >> 6] >> (bit & 63) & 1;
}

static const Slot *child_of(uint32_t parent, uint32_t character) {
    uint64_t key = key_of(parent, character);
    const Slot *slot;
    if (!may_hold(key)) return NULL;
    slot = slot_of(key);
    return slot->key ? slot : NULL;
}

typedef struct {
    double *route;   /* of each place: the best weight of all from there on */
    uint32_t *best;  /* of each place: the last character of the word that begins there */
    uint8_t *back;   /* 4 states a character */
    uint8_t *states;
    uint32_t *ends;
    size_t count;    /* of ends */
} Cut;

static void cut_end(Cut *cut, uint32_t end) { cut->ends[cut->count++] = end; }

/* The words of characters that the dictionary leaves single, by Viterbi; as jieba's finalseg. */
static void cut_by_model(Cut *cut, const uint32_t *text, uint32_t first, uint32_t end) {
    /* The states that may come before B, M, E, S; of equal ones the first wins, by its letter. */
    static const uint8_t before[4][2] = {{3, 2}, {1, 0}, {1, 0}, {3, 2}};
    uint32_t count = end - first, next = first;
    double now[4], then[4];
    int state;
    for (int y = 0; y < 4; y++) now[y] = start_p[y] + emit_p[text[first] - HAN_FIRST][y];
    for (uint32_t t = 1; t < count; t++) {
        for (int y = 0; y < 4; y++) {
            double emitted = emit_p[text[first + t] - HAN_FIRST][y];
            int a = before[y][0], b = before[y][1];
            double by_a = now[a] + trans_p[a][y] + emitted, by_b = now[b] + trans_p[b][y] + emitted;
            then[y] = by_a >= by_b ? by_a : by_b;
            cut->back[4 * t + y] = (uint8_t)(by_a >= by_b ? a : b);
        }
        memcpy(now, then, sizeof now);
    }
    state = now[3] >= now[2] ? 3 : 2;
    for (uint32_t t = count; t-- > 0;) {
        cut->states[t] = (uint8_t)state;
        if (t) state = cut->back[4 * t + state];
    }
    for (uint32_t t = 0; t < count; t++)
        if (cut->states[t] >= 2) cut_end(cut, next = first + t + 1);
    if (next < end) cut_end(cut, end);
}

static void cut_singles(Cut *cut, const uint32_t *text, uint32_t first, uint32_t end) {
    const Slot *slot = NULL;
    uint32_t node, place;
    if (end - first == 1) cut_end(cut, end);
    if (end - first <= 1) return;
    node = text[first] - HAN_FIRST;
    for (place = first + 1; place < end; place++) {
        if ((slot = child_of(node, text[place] - HAN_FIRST)) == NULL) break;
        node = node_of(slot);
    }
    if (slot != NULL && slot->weight <= 0) /* a word that the route refused */
        for (place = first; place < end; place++) cut_end(cut, place + 1);
    else
        cut_by_model(cut, text, first, end);
}

/* The ends of the words of a run of Han, as jieba's exact mode has them. */
static void cut_run(Cut *cut, const uint32_t *text, uint32_t count) {
    uint32_t singles = 0, next;
    cut->count = 0;
    cut->route[count] = 0;
    for (uint32_t place = count; place-- > 0;) {
        const Slot *slot;
        uint32_t last = place, node = text[place] - HAN_FIRST;
        double best = unknown_weight + cut->route[place + 1], of_word = first_weights[node];
        int found = 0, is_leaf = 0;
        cut->best[place] = place;
        for (;;) {
            if (of_word <= 0) {
                double weight = of_word + cut->route[last + 1];
                if (!found || weight >= best) {
                    best = weight;
                    cut->best[place] = last;
                }
                found = 1;
            }
            if (is_leaf) break; /* most words begin no longer one */
            if (++last >= count || !(slot = child_of(node, text[last] - HAN_FIRST))) break;
            node = node_of(slot);
            of_word = slot->weight;
            is_leaf = !(slot->key & HAS_CHILDREN);
        }
        cut->route[place] = best;
    }
    for (uint32_t place = 0; place < count; place = next) {
        next = cut->best[place] + 1;
        if (next - place > 1) {
            cut_singles(cut, text, singles, place);
            cut_end(cut, next);
            singles = next;
        }
    }
    cut_singles(cut, text, singles, count);
}

/* ---- words to hashes: 16 bytes each, as hashing.murmur3 gives them */

typedef struct {
    uint64_t *hashes; /* two a word */
    size_t count, most;
    uint8_t *utf8; /* of a word */
} Words;

static int kind_of(uint32_t character) {
    if (character < BMP) return kinds[character];
    if (!Py_UNICODE_ISALNUM(character)) return IS_NONE;
    return (character >= 0x1B000 && character < 0x1B170) || (character >> 16 >= 2 && character >> 16 < 4)
               ? IS_UNSPACED
               : IS_WORD;
}

/* UTF-8 with ? for a lone surrogate. */
static void add_word(Words *words, const uint32_t *text, size_t count) {
    uint8_t *out = words->utf8;
    if (words->count == words->most) return;
    for (size_t i = 0; i < count; i++) {
        uint32_t c = text[i];
        if (c < 0x80) *out++ = (uint8_t)c;
        else out += put(out, c >= 0xD800 && c < 0xE000 ? '?' : c);
    }
    murmur3(words->utf8, (size_t)(out - words->utf8), words->hashes + 2 * words->count);
    words->count++;
}

/* Fills `text`, three times as long, with the folded piece; its length, or UNKNOWN_CHARACTER. */
static Py_ssize_t fold(uint32_t *text, PyObject *piece, const uint32_t *table) {
    Py_ssize_t size = PyUnicode_GET_LENGTH(piece), count = 0;
    int width = PyUnicode_KIND(piece);
    const void *data = PyUnicode_DATA(piece);
    uint32_t rank = 0, marks = 0, first = 0;
    for (Py_ssize_t i = 0; i < size; i++) {
        uint32_t c = PyUnicode_READ(width, data, i);
        int is_pictograph = c >= 0x1F300 && c < 0x1FB00; /* to itself, whatever stands beside it */
        uint32_t folded = c < BMP ? table[c] : is_pictograph ? c : (uint32_t)ASK;
        if (folded < SECOND) { /* most, which change nothing */
            marks = rank = 0;
            first = folded & FIRST;
            text[count++] = folded & (FIRST - 1);
        } else if (folded < ELLIPSIS) {
            marks = folded >> RANK_SHIFT ? marks + 1 : 0;
            if ((folded >> RANK_SHIFT && folded >> RANK_SHIFT < rank) || marks > MAX_MARKS || (folded & SECOND && first))
                return UNKNOWN_CHARACTER; /* to be sorted, left out or composed */
            rank = folded >> RANK_SHIFT;
            if (rank == 0) first = folded & FIRST;
            text[count++] = folded & (FIRST - 1);
        } else if (folded == ELLIPSIS) {
            for (int dots = 0; dots < 3; dots++) text[count++] = '.';
        } else if (folded == ASK) {
            return UNKNOWN_CHARACTER;
        }
    }
    return count;
}

static PyObject *spelled(PyObject *module, PyObject *args) {
    PyObject *text, *answer = NULL;
    const char *table;
    Py_ssize_t size, count;
    uint32_t *out;
    (void)module;
    if (!PyArg_ParseTuple(args, "Uy#", &text, &table, &size)) return NULL;
    if (size != 4 * BMP) return PyErr_Format(PyExc_ValueError, "a table has %d characters", BMP);
    out = PyMem_RawMalloc((3 * (size_t)PyUnicode_GET_LENGTH(text) + 1) * sizeof *out);
    if (out == NULL) return PyErr_NoMemory();
    count = fold(out, text, (const uint32_t *)table);
    answer = count < 0 ? Py_NewRef(Py_None) : PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, out, count);
    PyMem_RawFree(out);
    return answer;
}

/* Adds the words of a folded text. */
static void add_words(Words *words, const uint32_t *text, size_t count, int by_jieba) {
    double route[RUN_ROOM + 1];
    uint32_t best[RUN_ROOM], ends[RUN_ROOM];
    uint8_t back[4 * RUN_ROOM], states[RUN_ROOM];
    Cut cut = {route, best, back, states, ends, 0};
    for (size_t place = 0, end; place < count && words->count < words->most; place = end) {
        int kind = kind_of(text[place]);
        end = place + 1;
        if (kind & IS_WORD) {
            while (end < count && kind_of(text[end]) & (IS_WORD | IS_MARK)) end++;
            add_word(words, text + place, end - place);
        } else if (kind == IS_HAN && by_jieba) {
            uint32_t begin = 0;
            while (end < count && end - place < (size_t)max_run && kind_of(text[end]) == IS_HAN) end++;
            cut.ends[0] = cut.count = 1;
            if (end - place > 1) cut_run(&cut, text + place, (uint32_t)(end - place));
            for (size_t i = 0; i < cut.count; begin = cut.ends[i++])
                add_word(words, text + place + begin, cut.ends[i] - begin);
        } else if (kind & IS_UNSPACED) { /* with its marks, and the next one with its own */
            size_t last;
            while (end < count && kind_of(text[end]) & IS_MARK) end++;
            last = end;
            if (last < count && kind_of(text[last]) & IS_UNSPACED)
                for (last++; last < count && kind_of(text[last]) & IS_MARK;) last++;
            add_word(words, text + place, last - place);
        } else if (kind & IS_HAN) {
            add_word(words, text + place, 1);
        }
    }
}

/* Whether two Han stand side by side: one alone is a word in any dictionary. */
static int has_run(const uint32_t *text, Py_ssize_t count) {
    for (Py_ssize_t i = 1; i < count; i++)
        if (kind_of(text[i - 1]) == IS_HAN && kind_of(text[i]) == IS_HAN) return 1;
    return 0;
}

static PyObject *hashed(PyObject *module, PyObject *args) {
    PyObject *piece, *made;
    int is_folded, by_jieba;
    Py_ssize_t most, count, size;
    uint32_t *text;
    (void)module;
    if (!PyArg_ParseTuple(args, "Uppn", &piece, &is_folded, &by_jieba, &most)) return NULL;
    count = size = PyUnicode_GET_LENGTH(piece);
    text = PyMem_RawMalloc(2 * (3 * (size_t)size + 1) * sizeof *text); /* the second half for UTF-8 */
    if (text == NULL) return PyErr_NoMemory();
    for (Py_ssize_t i = 0; is_folded && i < size; i++) text[i] = PyUnicode_READ_CHAR(piece, i);
    if (!is_folded) count = fold(text, piece, folds);
    if (count > max_folded) count = max_folded;
    if (by_jieba && !is_loaded && has_run(text, count)) count = NO_DICTIONARY;
    if (most > count) most = count; /* a word has a character at least */
    made = count < 0 ? PyLong_FromSsize_t(count) : PyBytes_FromStringAndSize(NULL, most > 0 ? HASH_SIZE * most : 0);
    if (made != NULL && count >= 0) {
        uint8_t *utf8 = (uint8_t *)(text + 3 * size + 1);
        Words words = {(uint64_t *)PyBytes_AS_STRING(made), 0, most > 0 ? (size_t)most : 0, utf8};
        add_words(&words, text, (size_t)count, by_jieba);
        _PyBytes_Resize(&made, (Py_ssize_t)(HASH_SIZE * words.count));
        if (made != NULL) made = Py_BuildValue("nN", count, made);
    }
    PyMem_RawFree(text);
    return made;
}

static inline uint64_t ngram(const uint64_t *words, size_t size) {
    uint64_t hash = words[0];
    for (size_t i = 1; i < size; i++) hash = mixed(hash * GOLDEN + words[2 * i]);
    return hash;
}

static PyObject *content(PyObject *module, PyObject *args) {
    PyObject *given, *sizes;
    Votes votes = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "SO!", &given, &PyTuple_Type, &sizes)) return NULL;
    const uint64_t *words = (const uint64_t *)PyBytes_AS_STRING(given);
    size_t count = (size_t)PyBytes_GET_SIZE(given) / HASH_SIZE;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sizes); i++) {
        size_t size = PyLong_AsSize_t(PyTuple_GET_ITEM(sizes, i));
        if (PyErr_Occurred()) return NULL;
        if (size == 0) return PyErr_Format(PyExc_ValueError, "an n-gram has a token at least");
        for (size_t place = 0; size <= count && place <= count - size; place++)
            votes_add(&votes, ngram(words + 2 * place, size));
    }
    if (votes.count == 0) Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(votes_bits(&votes));
}

static PyObject *sketch(PyObject *module, PyObject *args) {
    PyObject *given;
    Py_ssize_t size, count;
    size_t room = 16, mask, at;
    char digits[33];
    Votes low = {0}, high = {0};
    uint64_t *seen;
    (void)module;
    if (!PyArg_ParseTuple(args, "Sn", &given, &size)) return NULL;
    if (size < 1) return PyErr_Format(PyExc_ValueError, "an n-gram has a token at least");
    const uint64_t *words = (const uint64_t *)PyBytes_AS_STRING(given);
    count = PyBytes_GET_SIZE(given) / HASH_SIZE - size + 1;
    if (count < 1) Py_RETURN_NONE;
    while (room < 2 * (size_t)count) room *= 2;
    mask = room - 1;
    seen = PyMem_RawCalloc(room, sizeof *seen);
    if (seen == NULL) return PyErr_NoMemory();
    for (Py_ssize_t place = 0; place < count; place++, words += 2) {
        uint64_t hash = ngram(words, (size_t)size);
        at = (size_t)(hash * salt >> 32) & mask; /* salted: no page can choose its slots */
        while (seen[at] != 0 && seen[at] != hash) at = (at + 1) & mask;
        if (seen[at] == hash && hash) continue;
        seen[at] = hash;
        votes_add(&low, hash);
        votes_add(&high, ngram(words + 1, (size_t)size));
    }
    PyMem_RawFree(seen);
    snprintf(digits, sizeof digits, "%016" PRIx64 "%016" PRIx64, votes_bits(&high), votes_bits(&low));
    return PyLong_FromString(digits, NULL, 16);
}

/* ---- tables */

static void set_kinds(const uint8_t *ranges, Py_ssize_t size, int kind) {
    for (Py_ssize_t i = 0; i + 8 <= size; i += 8) {
        uint32_t first, last;
        memcpy(&first, ranges + i, 4);
        memcpy(&last, ranges + i + 4, 4);
        for (uint32_t c = first; c <= last && c < BMP; c++) {
            if (kind == IS_MARK)
                kinds[c] |= IS_MARK;
            else if (kinds[c] & IS_WORD) /* what is no letter is no token */
                kinds[c] = c >= HAN_FIRST && c < HAN_FIRST + HAN_COUNT ? IS_HAN : IS_UNSPACED;
        }
    }
}

static PyObject *set_tables(PyObject *module, PyObject *args) {
    const char *unspaced, *marks, *folded;
    Py_ssize_t unspaced_size, marks_size, folded_size;
    unsigned long long given;
    Py_ssize_t run, longest;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#y#y#Knn", &unspaced, &unspaced_size, &marks, &marks_size, &folded,
                          &folded_size, &given, &run, &longest))
        return NULL;
    if (run < 1 || run > RUN_ROOM || longest < 0)
        return PyErr_Format(PyExc_ValueError, "a run has 1 to %d", RUN_ROOM);
    if (folded_size != sizeof folds) return PyErr_Format(PyExc_ValueError, "65,536 folds are needed");
    for (uint32_t c = 0; c < BMP; c++) kinds[c] = Py_UNICODE_ISALNUM(c) || c == '_' ? IS_WORD : IS_NONE;
    set_kinds((const uint8_t *)unspaced, unspaced_size, IS_UNSPACED);
    set_kinds((const uint8_t *)marks, marks_size, IS_MARK);
    for (uint32_t c = 0; c < BMP; c++) {
        memcpy(&folds[c], folded + 4 * c, 4);
        if (folds[c] < ELLIPSIS) folds[c] = Py_UNICODE_TOLOWER(folds[c] & (FIRST - 1)) | (folds[c] & ~(FIRST - 1));
    }
    salt = given | 1;
    max_run = run;
    max_folded = longest;
    Py_RETURN_NONE;
}

/* The next character of valid UTF-8 of up to 3 bytes; 0 for any other. */
static uint32_t next_han(const uint8_t **at, const uint8_t *end) {
    const uint8_t *p = *at;
    uint32_t c;
    if (end - p < 3 || (p[0] & 0xF0) != 0xE0) return 0;
    c = (uint32_t)(p[0] & 15) << 12 | (uint32_t)(p[1] & 63) << 6 | (uint32_t)(p[2] & 63);
    *at = p + 3;
    return c >= HAN_FIRST && c < HAN_FIRST + HAN_COUNT ? c : 0;
}

/* The count of a line `word count tag`, and its node if the word is Han alone. -1: no room. */
static int add_line(const uint8_t *line, const uint8_t *end, double *counts, double *total) {
    const uint8_t *space = memchr(line, ' ', (size_t)(end - line));
    Slot *parent = NULL;
    uint32_t node, c;
    double count = 0;
    if (space == NULL) return 0;
    for (const uint8_t *p = space + 1; p < end && *p >= '0' && *p <= '9'; p++)
        count = 10 * count + (*p - '0');
    *total += count;
    if ((c = next_han(&line, space)) == 0) return 0;
    node = c - HAN_FIRST;
    while (line < space) {
        uint64_t key, bit;
        Slot *slot;
        if ((c = next_han(&line, space)) == 0) return 0;
        key = key_of(node, c - HAN_FIRST);
        bit = key * GOLDEN >> (64 - FILTER_BITS);
        slot = slot_of(key);
        if (slot->key == 0) {
            if (nodes >= MAX_NODES) return -1;
            slot->key = key << KEY_SHIFT | nodes++;
            filter[bit >> 6] |= 1ull << (bit & 63);
        }
        if (parent != NULL) parent->key |= HAS_CHILDREN;
        parent = slot;
        node = node_of(slot);
    }
    counts[node] = count;
    return 0;
}

/* The weight of a word that occurs so often in a dictionary of so many, as jieba reckons it. */
static double weight_of(double count, double total) {
    return count > 0 ? log(count) - log(total) : NO_WORD;
}

static PyObject *load_dictionary(PyObject *module, PyObject *args) {
    const char *lines, *start, *trans, *emit;
    Py_ssize_t size, start_size, trans_size, emit_size;
    double total = 0, *counts;
    int fits;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#y#y#y#", &lines, &size, &start, &start_size, &trans, &trans_size,
                          &emit, &emit_size))
        return NULL;
    if (start_size != sizeof start_p || trans_size != sizeof trans_p ||
        emit_size != sizeof emit_p)
        return PyErr_Format(PyExc_ValueError, "the model has other states or characters");
    if (is_loaded) Py_RETURN_NONE; /* another thread may be reading it */
    slots = PyMem_RawCalloc(SLOTS, sizeof *slots);
    counts = PyMem_RawCalloc(MAX_NODES, sizeof *counts);
    if ((fits = slots != NULL && counts != NULL) == 0) PyErr_NoMemory();
    memcpy(start_p, start, sizeof start_p);
    memcpy(trans_p, trans, sizeof trans_p);
    memcpy(emit_p, emit, sizeof emit_p);
    nodes = HAN_COUNT; /* that of first characters */
    Py_BEGIN_ALLOW_THREADS /* a tenth of a second; nobody reads it before it is loaded */
    for (const uint8_t *line = (const uint8_t *)lines, *last = line + size; line < last && fits;) {
        const uint8_t *end = memchr(line, '\n', (size_t)(last - line));
        if (end == NULL) end = last;
        fits = add_line(line, end, counts, &total) >= 0;
        line = end + 1;
    }
    unknown_weight = 0.0 - log(total);
    for (size_t at = 0; at < SLOTS && fits; at++)
        slots[at].weight = slots[at].key ? weight_of(counts[node_of(&slots[at])], total) : NO_WORD;
    for (uint32_t c = 0; c < HAN_COUNT && fits; c++) first_weights[c] = weight_of(counts[c], total);
    Py_END_ALLOW_THREADS
    PyMem_RawFree(counts);
    if ((is_loaded = fits)) Py_RETURN_NONE;
    PyMem_RawFree(slots);
    slots = NULL;
    return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "more than %u nodes", MAX_NODES);
}

/* ---- the sample of visible text */

#define TAKEN_ROOM 512
#define NONE 255
#define DIGIT_BITS 8 /* most pages have some thousand windows: a table of more digits takes longer */
#define DIGITS (1 << DIGIT_BITS)
#define FEW_ENTRIES 2048

typedef struct {
    uint32_t rank, block;
} Entry;

/* Sorts by rank, in linear time, with `other` for room; entries of one rank stay in order.
 * Few are all but sorted by half of their digits. */
static void sort_by_rank(Entry *entries, Entry *other, size_t count) {
    for (int shift = count > FEW_ENTRIES ? 0 : 2 * DIGIT_BITS; shift < 32; shift += DIGIT_BITS) {
        uint32_t places[DIGITS] = {0}, place = 0;
        Entry *from = entries;
        for (size_t i = 0; i < count; i++) places[from[i].rank >> shift & (DIGITS - 1)]++;
        for (int digit = 0; digit < DIGITS; digit++) {
            uint32_t number = places[digit];
            places[digit] = place;
            place += number;
        }
        for (size_t i = 0; i < count; i++)
            other[places[from[i].rank >> shift & (DIGITS - 1)]++] = from[i];
        entries = other;
        other = from;
    }
    for (size_t i = 1, at; i < count; i++) {
        Entry entry = entries[i];
        for (at = i; at && entries[at - 1].rank > entry.rank; at--) entries[at] = entries[at - 1];
        entries[at] = entry;
    }
}

static inline uint32_t window_hash(uint32_t hash) {
    hash = (hash ^ hash >> 16) * 0x85EBCA6Bu;
    hash = (hash ^ hash >> 13) * 0xC2B2AE35u;
    return hash ^ hash >> 16;
}

/* The entries below the bound in order of place; sums[block] is the sum of its windows. */
static size_t windows_below(const uint8_t *text, size_t size, size_t window, const uint8_t *masks,
                            uint64_t bound, Entry *entries, size_t room, uint32_t *sums) {
    const uint32_t multiplier = 0x9E3779B1u;
    uint32_t block = 0, hash = 0, highest = 1, rank;
    size_t count = 0, place = 0;
    for (size_t i = 1; i < window; i++) highest *= multiplier;
    for (; place < window - 1; place++) hash = hash * multiplier + text[place];
    for (place = 0; place + window <= size;) {
        uint32_t sum = 0, mask = masks[block]; /* leaves out the windows that have its bits */
        uint64_t below = mask == NONE ? 0 : bound;
        for (; text[place] != '\n'; place++) {
            hash = hash * multiplier + text[place + window - 1];
            rank = window_hash(hash);
            hash -= text[place] * highest;
            sum += rank;
            /* Without a branch: half of a small page's windows are taken, and none can be foretold. */
            entries[count] = (Entry){rank, block};
            count += !(rank & mask) & (rank < below);
            if (count > room) return count;
        }
        sums[block++] = sum;
        /* A separator: no window begins in it. */
        for (size_t end = place + window; place < end; place++) {
            if (place + window > size) return count;
            hash = hash * multiplier + text[place + window - 1];
            hash -= text[place] * highest;
        }
    }
    return count;
}

static PyObject *sample(PyObject *module, PyObject *args) {
    const char *text, *masks, *mains;
    Py_ssize_t size, blocks, mains_size, window, most;
    Entry *entries = NULL;
    uint32_t *sums, last = 0xFFFFFFFFu;
    PyObject *answer = NULL;
    static const uint64_t likely[3] = {7, 32, 0}; /* quarters of the windows that are wanted */
    size_t taken = 0, chosen = 0, separators = 0, windows = 0;
    uint8_t out[4 + 6 * TAKEN_ROOM], *is_chosen; /* of each block, as the sums of its windows */
    uint32_t of_blocks[TAKEN_ROOM], hashes[TAKEN_ROOM];
    (void)module;
    if (!PyArg_ParseTuple(args, "y#y#y#nn", &text, &size, &masks, &blocks, &mains, &mains_size, &window, &most))
        return NULL;
    if (window < 1 || most < 1 || most > TAKEN_ROOM)
        return PyErr_Format(PyExc_ValueError, "a sample has up to %d windows", TAKEN_ROOM);
    for (const char *at = text, *end; (end = memchr(at, '\n', (size_t)(text + size - at))); at = end + window) {
        if (text + size - end < window) break;
        if (separators < (size_t)blocks) windows += (size_t)(end - at) / ((uint8_t)masks[separators] + 1u);
        separators++;
    }
    if (mains_size != blocks || separators > (size_t)blocks || separators == 0 || size < window ||
        text[size - window] != '\n')
        return PyErr_Format(PyExc_ValueError, "blocks end with a line break and NULs");
    sums = PyMem_RawCalloc((size_t)blocks, sizeof *sums + 1);
    if (sums == NULL) return PyErr_NoMemory();
    is_chosen = (uint8_t *)(sums + blocks);
    for (int round = 0; round < 3; round++) {
        uint64_t all = 1ull << 32, bound = all, room;
        if (likely[round]) bound = likely[round] * (uint64_t)most * all / (4 * windows + 1);
        if (bound > all) bound = all;
        room = bound == all ? (uint64_t)size : likely[round] * (uint64_t)most;
        PyMem_RawFree(entries);
        entries = PyMem_RawMalloc(2 * (room + 1) * sizeof *entries);
        if (entries == NULL) break;
        size_t count = windows_below((const uint8_t *)text, (size_t)size, (size_t)window,
                                     (const uint8_t *)masks, bound, entries, room, sums);
        if (count > room) continue; /* text that repeats itself: the next bound, or all */
        sort_by_rank(entries, entries + room + 1, count);
        taken = 0;
        for (size_t i = 0; i < count && taken < (size_t)most; i++) {
            if (i && entries[i].rank == entries[i - 1].rank) continue; /* its first block counts */
            uint32_t rank = entries[i].rank, block = entries[i].block;
            uint16_t half = (uint16_t)((sums[block] & 0x7FFF) | (mains[block] ? 0x8000 : 0));
            if (taken + 1 == (size_t)most) last = rank;
            memcpy(out + 4 + 6 * taken, &rank, 4);
            memcpy(out + 8 + 6 * taken, &half, 2);
            of_blocks[taken++] = block;
        }
        if (taken == (size_t)most || bound == all) break;
    }
    memcpy(out, &last, 4);
    for (size_t i = 0; i < taken; i++) {
        if (!is_chosen[of_blocks[i]]) hashes[chosen++] = sums[of_blocks[i]];
        is_chosen[of_blocks[i]] = 1;
    }
    if (entries != NULL)
        answer = Py_BuildValue("y#y#", (const char *)out, (Py_ssize_t)(4 + 6 * taken), (const char *)hashes,
                               (Py_ssize_t)(chosen * sizeof *hashes));
    PyMem_RawFree(entries);
    PyMem_RawFree(sums);
    return answer ? answer : PyErr_NoMemory();
}

/* ---- where a title's words stand: see page/titles.py */

#define AROUND_CHARS 60
#define NEAR_CHARS 10
#define LEAST_LETTERS 6
enum { WHOLE, ANYWHERE, UNPLACED };

static int is_alnum_at(PyObject *text, Py_ssize_t at) { return Py_UNICODE_ISALNUM(PyUnicode_READ_CHAR(text, at)); }

/* The first place of a word between `first` and `end`, as a word of the text from `begin` on. */
static Py_ssize_t place_of_word(PyObject *word, int kind, PyObject *text, Py_ssize_t begin, Py_ssize_t first,
                                Py_ssize_t end, Py_ssize_t step) {
    Py_ssize_t size = PyUnicode_GET_LENGTH(word), at;
    while ((at = PyUnicode_Find(text, word, first, end, 1)) >= 0) {
        int goes_on = (at > begin && is_alnum_at(text, at - 1)) || (at + size < end && is_alnum_at(text, at + size));
        if (kind == ANYWHERE || !goes_on) return at;
        first = at + step;
    }
    return at;
}

/* _letters; how many there are */
static Py_ssize_t letters_of(PyObject *text, Py_ssize_t begin, Py_ssize_t end, PyObject *words, const char *kinds,
                             Py_UCS4 *letters) {
    uint8_t is_word[AROUND_CHARS] = {0};
    Py_ssize_t count = 0, at;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(words); i++) {
        PyObject *word = PyTuple_GET_ITEM(words, i);
        for (Py_ssize_t first = begin; (at = place_of_word(word, kinds[i], text, begin, first, end, 1)) >= 0;) {
            memset(is_word + (at - begin), 1, (size_t)PyUnicode_GET_LENGTH(word));
            first = at + 1;
        }
        if (at < -1) return at;
    }
    for (at = begin; at < end; at++) {
        Py_UCS4 c = PyUnicode_READ_CHAR(text, at);
        if (!is_word[at - begin] && Py_UNICODE_ISALPHA(c)) letters[count++] = c;
    }
    return count;
}

/* _near; NULL with an exception */
static PyObject *near_of(PyObject *text, Py_ssize_t at, Py_ssize_t end, PyObject *words, const char *kinds) {
    Py_UCS4 letters[1 + AROUND_CHARS] = {' '}, *from = letters;
    Py_ssize_t size = PyUnicode_GET_LENGTH(text), begin = at > AROUND_CHARS ? at - AROUND_CHARS : 0;
    Py_ssize_t count = letters_of(text, begin, at, words, kinds, letters + 1), most = NEAR_CHARS;
    if (count >= LEAST_LETTERS) {
        from += 1 + (count > most ? count - most : 0);
    } else if (count >= 0) {
        at = size - end > AROUND_CHARS ? end + AROUND_CHARS : size;
        count = letters_of(text, end, at, words, kinds, letters + 1);
        count = count >= LEAST_LETTERS ? count + 1 : count < 0 ? count : 0;
        most++;
    }
    return count < 0 ? NULL : PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, from, count < most ? count : most);
}

static PyObject *places(PyObject *module, PyObject *args) {
    PyObject *words, *texts[2], *found;
    const char *kinds;
    Py_ssize_t size, most;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!y#UUn", &PyTuple_Type, &words, &kinds, &size, &texts[0], &texts[1], &most)) return NULL;
    if (size != PyTuple_GET_SIZE(words)) return PyErr_Format(PyExc_ValueError, "each word has a kind");
    for (Py_ssize_t i = 0; i < size; i++)
        if (!PyUnicode_Check(PyTuple_GET_ITEM(words, i)) || !PyUnicode_GET_LENGTH(PyTuple_GET_ITEM(words, i)))
            return PyErr_Format(PyExc_TypeError, "words are texts, and not empty");
    found = PyList_New(0);
    for (Py_ssize_t i = 0; found != NULL && i < size && PyList_GET_SIZE(found) < most; i++) {
        PyObject *word = PyTuple_GET_ITEM(words, i), *near, *place;
        Py_ssize_t at = -1, length = PyUnicode_GET_LENGTH(word);
        int where = -1, failed;
        while (kinds[i] != UNPLACED && at == -1 && ++where < 2)
            at = place_of_word(word, kinds[i], texts[where], 0, 0, PyUnicode_GET_LENGTH(texts[where]), length);
        if (at == -1) continue;
        near = at < 0 ? NULL : near_of(texts[where], at, at + length, words, kinds);
        place = near == NULL ? NULL : Py_BuildValue("lO", (long)(i | where << 7), near);
        failed = place == NULL || (PyUnicode_GET_LENGTH(near) && PyList_Append(found, place) < 0);
        Py_XDECREF(near);
        Py_XDECREF(place);
        if (failed) Py_CLEAR(found);
    }
    return found;
}

/* ---- the sentences of a text: see page/fingerprint.py */

static PyObject *sentences(PyObject *module, PyObject *args) {
    PyObject *text, *stops, *found;
    (void)module;
    if (!PyArg_ParseTuple(args, "UU", &text, &stops)) return NULL;
    Py_ssize_t size = PyUnicode_GET_LENGTH(text), most = PyUnicode_GET_LENGTH(stops), at = 0;
    int width = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    found = PyList_New(0);
    while (found != NULL && at < size) {
        Py_ssize_t first = at, last;
        int is_begun = 0;
        for (; at < size; at++) {
            Py_UCS4 c = PyUnicode_READ(width, data, at), next = at + 1 < size ? PyUnicode_READ(width, data, at + 1) : 0;
            int is_stop = c == '.' || c == '!' || c == '?';
            if (!is_stop && c != '\n' && (c < 128 || PyUnicode_FindChar(stops, c, 0, most, 1) < 0)) is_begun = 1;
            else if (!is_begun) first = at + 1;
            else if (!is_stop || next == ' ' || next >= 0x2E80 || PyUnicode_READ(width, data, at - 1) >= 0x2E80) {
                at += c != '\n';
                break;
            }
        }
        for (last = at; last > first && Py_UNICODE_ISSPACE(PyUnicode_READ(width, data, last - 1));) last--;
        while (first < last && Py_UNICODE_ISSPACE(PyUnicode_READ(width, data, first))) first++;
        if (first < last) {
            PyObject *said = PyUnicode_Substring(text, first, last);
            if (said == NULL || PyList_Append(found, said) < 0) Py_CLEAR(found);
            Py_XDECREF(said);
        }
    }
    return found;
}

/* ---- lines that may lose a counter: see page/counters.py */

/* Whether it ends a word: a digit, one of !"'(),-./:;?[]|, white space or a control character. */
static int is_parting(uint8_t c) {
    return c < 64 ? 0x8FFFF387FFFFFFFFull >> c & 1 : c == '[' || c == ']' || c == '|';
}

/* A bit for how a word of a set begins, by three letters and its length: most words of a text begin otherwise. And the
 * letters of scripts without spaces: first ones of days, and of all counters; second ones; those that are enough. */
static PyObject *begun;
static uint64_t begins[1 << 9], unspaced[4][BMP / 64];
static int begin_of(const uint8_t *word, Py_ssize_t size) {
    int rest = (size > 1 ? word[1] & 31 : 0) << 5 | (size > 2 ? word[2] & 31 : 0);
    return ((word[0] & 31) << 10 | rest) ^ (int)(size & 31) << 3;
}

static int note_begins(PyObject *words, PyObject *letters[4]) {
    PyObject *each = PyObject_GetIter(words), *word;
    for (int set = 0; set < 4; set++)
        for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(letters[set]); i++) {
            Py_UCS4 c = PyUnicode_READ_CHAR(letters[set], i) & (BMP - 1);
            unspaced[set][c >> 6] |= 1ull << (c & 63);
        }
    while (each != NULL && (word = PyIter_Next(each)) != NULL) {
        int is_plain = PyUnicode_Check(word) && PyUnicode_IS_ASCII(word);
        int begin = is_plain ? begin_of(PyUnicode_1BYTE_DATA(word), PyUnicode_GET_LENGTH(word)) : 0;
        begins[begin >> 6] |= 1ull << (begin & 63);
        Py_DECREF(word);
    }
    Py_XDECREF(each);
    Py_XSETREF(begun, PyErr_Occurred() ? NULL : Py_NewRef(words));
    return begun != NULL;
}

/* Whether a set, or a part of it, has these small letters; -1 with an exception. */
static int has_word(PyObject *words, const uint8_t *letters, Py_ssize_t size) {
    int found, begin = begin_of(letters, size);
    if (!(begins[begin >> 6] >> (begin & 63) & 1)) return 0;
    PyObject *word = PyUnicode_FromKindAndData(PyUnicode_1BYTE_KIND, letters, size);
    found = word == NULL ? -1 : PySet_Contains(words, word);
    Py_XDECREF(word);
    return found;
}

static int is_unspaced(Py_UCS4 c) { return c < BMP && kinds[c] & (IS_HAN | IS_UNSPACED); }
static int has_letter(int set, Py_UCS4 c) { return unspaced[set][c >> 6] >> (c & 63) & 1; }

/* counters._has_word, but that a letter of another script with spaces than Latin may be one's. */
static int may_lose_counter(PyObject *line, PyObject *words, PyObject *days) {
    Py_UCS4 text[LINE_ROOM + 1];
    uint8_t letters[LINE_ROOM];
    int found = 0, is_numbered = 0, is_word = 1;
    Py_ssize_t length = PyUnicode_GET_LENGTH(line), size = 0;
    if (PyUnicode_AsUCS4(line, text, LINE_ROOM + 1, 1) == NULL) return -1; /* with a NUL, which parts words */
    for (Py_ssize_t i = 0; i < length; i++) is_numbered |= IS_DIGIT(text[i]);
    for (Py_ssize_t i = 0; i <= length && !found; i++) {
        Py_UCS4 c = text[i];
        if (c >= 128 && Py_UNICODE_ISALNUM(c)) {
            int is_second = !is_unspaced(text[i + 1]) || has_letter(2, text[i + 1]);
            found = !is_unspaced(c) || has_letter(3, c) || (has_letter(is_numbered, c) && is_second);
        } else if (c >= 128 || is_parting((uint8_t)c)) {
            if (size && is_word) found = has_word(is_numbered ? words : days, letters, size);
            is_word = 1;
            size = 0;
        } else {
            is_word &= IS_LETTER(c);
            letters[size++] = (uint8_t)(c | 32);
        }
    }
    return found;
}

static PyObject *doubtful(PyObject *module, PyObject *args) {
    PyObject *lines, *words, *days, *letters[4], *found;
    Py_ssize_t most;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!nO!O!UUUU", &PyList_Type, &lines, &most, &PySet_Type, &days, &PySet_Type, &words,
                          &letters[0], &letters[1], &letters[2], &letters[3]))
        return NULL;
    if (most > LINE_ROOM) return PyErr_Format(PyExc_ValueError, "a line has up to %d", LINE_ROOM);
    if (begun != words && !note_begins(words, letters)) return NULL;
    found = PyList_New(0);
    for (Py_ssize_t i = 0; found != NULL && i < PyList_GET_SIZE(lines); i++) {
        PyObject *line = PyList_GET_ITEM(lines, i), *place;
        if (!PyUnicode_Check(line)) PyErr_Format(PyExc_TypeError, "a line is a str");
        else if (PyUnicode_GET_LENGTH(line) > most || !may_lose_counter(line, words, days)) continue;
        place = PyErr_Occurred() ? NULL : PyLong_FromSsize_t(i);
        if (place == NULL || PyList_Append(found, place) < 0) Py_CLEAR(found);
        Py_XDECREF(place);
    }
    return found;
}

/* ---- the bytes of a page */

/* The bytes of the character of UTF-8 that begins here, by the table of the Unicode standard (3-7);
 * 0 for none. */
static size_t utf8_at(const uint8_t *p, const uint8_t *end) {
    size_t size = p[0] < 0x80 ? 1 : p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : p[0] < 0xF5 ? 4 : 0;
    uint8_t least = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;
    uint8_t most = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;
    if (size > (size_t)(end - p)) return 0;
    if (size > 1 && (p[1] < least || p[1] > most)) return 0;
    for (size_t i = 2; i < size; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    return size;
}

static PyObject *is_plain(PyObject *module, PyObject *source) {
    const uint8_t *at = (const uint8_t *)PyBytes_AsString(source), *end;
    (void)module;
    if (at == NULL) return NULL;
    for (end = at + PyBytes_GET_SIZE(source); at < end;) {
        uint64_t eight;
        while (end - at >= 8) {
            memcpy(&eight, at, 8);
            if (!(eight & 0x8080808080808080ull)) at += 8;
            else if ((eight & 0xC0C0F0) == 0x8080E0 && 0x1FFE >> (eight & 15) & 1) at += 3; /* U+1000 to U+CFFF */
            else break;
        }
        if (at == end) break;
        size_t size = utf8_at(at, end);
        if (size == 0 || (size == 3 && at[0] == 0xEF && at[1] == 0xBF && at[2] == 0xBD)) Py_RETURN_FALSE;
        at += size;
    }
    Py_RETURN_TRUE;
}

static PyMethodDef functions[] = {
    {"is_plain", is_plain, METH_O, "is_plain(source): whether it is UTF-8 without U+FFFD."},
    {"set_markup", set_markup, METH_VARARGS, "set_markup(compiled.py's tables)"},
    {"read_markup", read_markup, METH_VARARGS, "read_markup(source, max_depth): see MarkupRead"},
    {"set_rules", set_rules, METH_VARARGS, "set_rules(boilerplate.py's names, traits of tags)"},
    {"main_blocks", main_blocks, METH_VARARGS, "main_blocks(columns of blocks, words of the title)"},
    {"set_tables", set_tables, METH_VARARGS, "set_tables(unspaced, marks, folds, salt, max_run, max_folded): 4 bytes a character."},
    {"load_dictionary", load_dictionary, METH_VARARGS, "load_dictionary(lines, start, trans, emit): jieba's, doubles by B, M, E, S."},
    {"hashed", hashed, METH_VARARGS, "hashed(piece, folded, by_jieba, most): its folded length, and hashes; or -1, -2."},
    {"content", content, METH_VARARGS, "content(hashes, sizes): 64 bits; None without an n-gram."},
    {"sketch", sketch, METH_VARARGS, "sketch(hashes, size): 128 bits; None without an n-gram."},
    {"spelled", spelled, METH_VARARGS, "spelled(text, table): folded so; None if a character depends on others."},
    {"sentences", sentences, METH_VARARGS, "sentences(text, stops): as fingerprint.py's sentences."},
    {"doubtful", doubtful, METH_VARARGS, "doubtful(lines, max_line, words of days, of all, Han in four sets): places of lines."},
    {"places", places, METH_VARARGS, "places(words, kinds, text, rest, most): as titles.py's _places."},
    {"sample", sample, METH_VARARGS, "sample(text, masks, mains, window, taken): the sample, hashes of its blocks."},
    {"kept_sample", kept_sample, METH_VARARGS, "kept_sample(sample, repeated, most): packed; None if it was already."},
    {"similarity", similarity, METH_VARARGS, "similarity(a, b, their sets, only_main, least common, recurring): below 0: none; None: ask Python"},
    {"near_words", near_words, METH_VARARGS, "near_words(packed, value, bits, most): those near; None if more"},
    {"recurring", recurring, METH_VARARGS, "recurring(packed, least): how often each comes that comes so often"},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_kernel", "See page/compiled.py.", -1, functions, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__kernel(void) {
    PyObject *module = PyModule_Create(&definition);
#ifdef Py_GIL_DISABLED /* tables are static, and written when they are first needed, in any thread */
    if (module != NULL) PyUnstable_Module_SetGIL(module, Py_MOD_GIL_USED);
#endif
    return module;
}
