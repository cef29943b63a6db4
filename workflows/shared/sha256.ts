/** The round constants: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const ROUND_CONSTANTS = fractionsOfRoots(64, 1 / 3);
/** The initial state: the same of the square roots of the first 8 primes. */
const INITIAL_STATE = fractionsOfRoots(8, 1 / 2);

/** SHA-256 of a text's UTF-8 bytes, in hex. Pure, because workflows have no `crypto`. */
export function sha256Hex(text: string): string {
  const state = Uint32Array.from(INITIAL_STATE);
  const message = padded(utf8(text));
  for (let at = 0; at < message.length; at += 64) compress(state, message, at);
  return Array.from(state, (word) => word.toString(16).padStart(8, '0')).join('');
}

function fractionsOfRoots(count: number, exponent: number): Uint32Array {
  const fractions: number[] = [];
  for (let candidate = 2; fractions.length < count; candidate += 1) {
    let prime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) {
      if (candidate % divisor === 0) prime = false;
    }
    if (prime) fractions.push(((candidate ** exponent % 1) * 2 ** 32) >>> 0);
  }
  return Uint32Array.from(fractions);
}

function compress(state: Uint32Array, message: Uint8Array, at: number): void {
  const word = (values: Uint32Array, index: number): number => values[index] ?? 0;
  const w = new Uint32Array(64);
  for (let i = 0; i < 16; i += 1) {
    const byte = (offset: number): number => message[at + i * 4 + offset] ?? 0;
    w[i] = (byte(0) << 24) | (byte(1) << 16) | (byte(2) << 8) | byte(3);
  }
  for (let i = 16; i < 64; i += 1) {
    const early = word(w, i - 15);
    const late = word(w, i - 2);
    const s0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const s1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    w[i] = word(w, i - 16) + s0 + word(w, i - 7) + s1;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < 64; i += 1) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + word(ROUND_CONSTANTS, i) + word(w, i)) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((value, i) => (state[i] = word(state, i) + value));
}

const rotate = (value: number, by: number): number => (value >>> by) | (value << (32 - by));

function padded(bytes: Uint8Array): Uint8Array {
  const result = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  result.set(bytes);
  result[bytes.length] = 0x80;
  const bits = bytes.length * 8;
  new DataView(result.buffer).setUint32(result.length - 8, Math.floor(bits / 2 ** 32));
  new DataView(result.buffer).setUint32(result.length - 4, bits >>> 0);
  return result;
}

function utf8(text: string): Uint8Array {
  const escaped = unescape(encodeURIComponent(text.toWellFormed()));
  return Uint8Array.from(escaped, (character) => character.charCodeAt(0));
}
