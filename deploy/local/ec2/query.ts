/** A request to EC2 as the emulator takes it: an action with flat parameters. */
export interface Ec2Query {
  readonly action: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** The signature, from which the emulator behind reads the region. */
  readonly authorization: string;
}

/** Reads a request's body. */
export function parseQuery(body: string, authorization: string): Ec2Query {
  const parameters = Object.fromEntries(new URLSearchParams(body));
  return { action: parameters['Action'] ?? '', parameters, authorization };
}

/** A request of our own, in the region and the name of another one. */
export const queryLike = (
  { authorization }: Pick<Ec2Query, 'authorization'>,
  action: string,
  parameters: Readonly<Record<string, string>> = {},
): Ec2Query => ({
  action,
  parameters: { Action: action, Version: '2016-11-15', ...parameters },
  authorization,
});

/** Everything that is asked for beside the token itself: another launch under the same token differs here. */
export const fingerprint = ({ parameters }: Ec2Query): string =>
  JSON.stringify(
    Object.entries(parameters)
      .filter(([key]) => key !== 'ClientToken')
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

/** The values of a list parameter: `InstanceId.1`, `InstanceId.2`, … */
export const listOf = ({ parameters }: Ec2Query, name: string): readonly string[] =>
  Object.entries(parameters).flatMap(([key, value]) =>
    new RegExp(`^${name}\\.\\d+$`).test(key) ? [value] : [],
  );

/** The region that a request is signed for. */
export const regionOf = ({ authorization }: Pick<Ec2Query, 'authorization'>): string =>
  /Credential=[^/]*\/\d+\/([^/]+)\//.exec(authorization)?.[1] ?? 'us-east-1';

/** A field of the user data that a launch gives an instance, where that is JSON. */
export function userDataField({ parameters }: Ec2Query, name: string): string {
  try {
    const data: unknown = JSON.parse(Buffer.from(parameters['UserData'] ?? '', 'base64').toString());
    return data !== null && typeof data === 'object' && name in data
      ? String((data as Record<string, unknown>)[name])
      : '';
  } catch {
    // User data may be anything, a script as well.
    return '';
  }
}

/** An error as EC2 words it. */
export const errorXml = (code: string, message: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Response><Errors><Error><Code>${code}</Code><Message>${escapeXml(message)}</Message></Error></Errors><RequestID>keelson</RequestID></Response>`;

/** Text inside XML. */
export const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Every instance id that an answer names. */
export const instanceIdsIn = (xml: string): readonly string[] => [
  ...new Set([...xml.matchAll(/<instanceId>(i-[0-9a-f]+)<\/instanceId>/g)].map((match) => match[1] ?? '')),
];

/** An answer without the reservations of some instances, as EC2 gives it before it has heard of them everywhere. */
export function withoutReservations(xml: string, hidden: ReadonlySet<string>): string {
  const open = '<reservationSet>';
  const start = xml.indexOf(open);
  const end = xml.lastIndexOf('</reservationSet>');
  if (start < 0 || end < 0) return xml;
  const items = splitItems(xml.slice(start + open.length, end));
  const kept = items.filter((item) => !instanceIdsIn(item).some((id) => hidden.has(id)));
  return xml.slice(0, start + open.length) + kept.join('') + xml.slice(end);
}

/** Cuts a list into its outermost items. */
function splitItems(list: string): readonly string[] {
  const items: string[] = [];
  let depth = 0;
  let from = 0;
  for (const match of list.matchAll(/<\/?item>/g)) {
    if (match[0] === '<item>') {
      if (depth === 0) from = match.index;
      depth += 1;
    } else {
      depth -= 1;
      if (depth === 0) items.push(list.slice(from, match.index + match[0].length));
    }
  }
  return items;
}
