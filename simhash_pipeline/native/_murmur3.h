/* MurmurHash3 x64 128, seed 0 (Appleby), for little-endian machines; splitmix64's last step; characters. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GOLDEN 0x9E3779B97F4A7C15ull
#define IS_DIGIT(c) ((c) >= '0' && (c) <= '9')
#define IS_LETTER(c) (((c) | 32) >= 'a' && ((c) | 32) <= 'z')

/* hashing.mixed */
static inline uint64_t mixed(uint64_t w) {
    w ^= w >> 30;
    w *= 0xBF58476D1CE4E5B9ull;
    w ^= w >> 27;
    w *= 0x94D049BB133111EBull;
    return w ^ w >> 31;
}

static inline uint64_t rotl(uint64_t x, int r) { return (x << r) | (x >> (64 - r)); }

static inline uint64_t fmix(uint64_t k) {
    k ^= k >> 33;
    k *= 0xFF51AFD7ED558CCDull;
    k ^= k >> 33;
    k *= 0xC4CEB9FE1A85EC53ull;
    return k ^ k >> 33;
}

/* Writes a character in UTF-8; its bytes. */
static inline size_t put(uint8_t *out, uint32_t code) {
    size_t size = 0;
    int bits = code < 0x80 ? 0 : code < 0x800 ? 6 : code < 0x10000 ? 12 : 18;
    out[size++] = (uint8_t)((bits == 0 ? 0 : bits == 6 ? 0xC0 : bits == 12 ? 0xE0 : 0xF0) | code >> bits);
    while (bits) out[size++] = (uint8_t)(0x80 | (code >> (bits -= 6) & 0x3F));
    return size;
}

static void murmur3(const uint8_t *data, size_t size, uint64_t hash[2]) {
    const uint64_t c1 = 0x87C37B91114253D5ull, c2 = 0x4CF5AD432745937Full;
    uint64_t h1 = 0, h2 = 0, k1, k2;
    uint8_t tail[16] = {0};
    size_t place = 0;
    for (; place + 16 <= size; place += 16) {
        memcpy(&k1, data + place, 8);
        memcpy(&k2, data + place + 8, 8);
        h1 ^= rotl(k1 * c1, 31) * c2;
        h1 = (rotl(h1, 27) + h2) * 5 + 0x52DCE729;
        h2 ^= rotl(k2 * c2, 33) * c1;
        h2 = (rotl(h2, 31) + h1) * 5 + 0x38495AB5;
    }
    /* A tail filled up with zeros hashes as the tail: what is zero changes nothing. */
    memcpy(tail, data + place, size - place);
    memcpy(&k1, tail, 8);
    memcpy(&k2, tail + 8, 8);
    h2 ^= rotl(k2 * c2, 33) * c1;
    h1 ^= rotl(k1 * c1, 31) * c2;
    h1 ^= size;
    h2 ^= size;
    h1 += h2;
    h2 += h1;
    h1 = fmix(h1);
    h2 = fmix(h2);
    h1 += h2;
    hash[0] = h1;
    hash[1] = h2 + h1;
}
