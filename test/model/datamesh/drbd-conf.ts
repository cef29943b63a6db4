import type { ModelNode } from './node-model.ts';

/** Node numbers by member; d1 is always the node that is looked at. */
export type Ids = Readonly<Record<string, number>>;

const port = (ids: Ids, name: string): number => 7000 + (ids[name] ?? 0);
const peersOf = (node: ModelNode): readonly (readonly [string, ModelNode['peers'][string]])[] =>
  Object.entries(node.peers).filter(([, peer]) => !peer.ghost);

/** What d1 should be, as drbd.conf says it: a peer that keeps no bitmap is one without a disk. */
export function renderConf(node: ModelNode, ids: Ids): string {
  const host = (name: string, disk: boolean): string =>
    `  on ${name} { node-id ${ids[name]}; address 127.0.0.1:${port(ids, name)}; volume 0 { device minor 1; disk ${disk ? '/dev/null' : 'none'}; meta-disk internal; } }`;
  return [
    'resource vol {',
    `  options { quorum ${node.q}; quorum-minimum-redundancy ${node.qmr}; }`,
    host('d1', node.disk),
    ...peersOf(node).flatMap(([name, peer]) => [
      host(name, peer.bitmap),
      `  connection { host d1; host ${name}; net { allow-remote-read ${peer.remoteRead ? 'yes' : 'no'}; } }`,
    ]),
    '}',
  ].join('\n');
}

/** What d1 is, as `drbdsetup show` would say it. */
export function renderShow(node: ModelNode, ids: Ids): string {
  return [
    'resource "vol" {',
    `  options { quorum ${node.q}; quorum-minimum-redundancy ${node.qmr}; }`,
    `  _this_host { node-id 0; volume 0 { device minor 1; disk ${node.disk ? '"/dev/null"; meta-disk internal' : 'none'}; } }`,
    ...peersOf(node).map(
      ([name, peer]) =>
        `  connection { _peer_node_id ${ids[name]}; path { _this_host ipv4 127.0.0.1:7000; _remote_host ipv4 127.0.0.1:${port(ids, name)}; } net { _name "${name}"; ${peer.remoteRead ? '' : 'allow-remote-read no; '}} ${peer.bitmap ? '' : 'volume 0 { disk { bitmap no; } } '}}`,
    ),
    '}',
  ].join('\n');
}
