import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

/** A certificate that nobody signed but its own key, for a server whose clients do not check it. */
export function createSelfSignedCertificate(commonName: string): {
  readonly cert: string;
  readonly key: string;
} {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(Buffer.from('06082a8648ce3d040302', 'hex'));
  const commonNameOid = Buffer.from('0603550403', 'hex');
  const name = sequence(tagged(0x31, sequence(commonNameOid, tagged(0x0c, Buffer.from(commonName)))));
  const serial = tagged(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)]));
  const validity = sequence(generalizedTime(-1), generalizedTime(10));
  const version3 = tagged(0xa0, tagged(0x02, Buffer.from([2])));
  const subjectKey = publicKey.export({ type: 'spki', format: 'der' });
  const body = sequence(version3, serial, ecdsaWithSha256, name, validity, name, subjectKey);
  const signature = createSign('sha256').update(body).sign(privateKey);
  const whole = sequence(body, ecdsaWithSha256, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

/** One DER element: its tag, its length in the short or long form, its content. */
function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const size = length > 0xff ? [0x82, length >> 8, length & 0xff] : [0x81, length];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function generalizedTime(years: number): Buffer {
  const date = new Date();
  date.setUTCFullYear(date.getUTCFullYear() + years);
  return tagged(0x18, Buffer.from(date.toISOString().replaceAll(/[-:T]|\.\d+/g, '')));
}
