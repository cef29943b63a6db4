import type { NodeCommand } from './node-commands.ts';

/** The options of every connection; `<…>` is filled in by the node's agent. */
const NET =
  '--protocol C --shared-secret <secret> --cram-hmac-alg sha256 --rr-conflict retry-connect --verify-alg crct10dif-pclmul';
const POLICY =
  '--auto-promote=no --on-no-quorum=suspend-io --on-no-data-accessible=suspend-io --on-suspended-primary-outdated=force-secondary';
const RESYNC =
  '--c-plan-ahead=20 --c-delay-target=1 --c-fill-target=4096s --c-max-rate=625000k --c-min-rate=12500k';

const yes = (value: boolean): string => (value ? 'yes' : 'no');

/** The drbdsetup (or drbdmeta) line of a command, for the resource and with peers by name. */
export function renderCommand(command: NodeCommand, resource: string, flant: boolean): string {
  const peer = 'peer' in command ? `<id:${command.peer}>` : '';
  switch (command.do) {
    case 'join':
      return `drbdsetup new-resource ${resource} <id> && drbdsetup resource-options ${resource} --quorum=32 --quorum-minimum-redundancy=32 ${POLICY}${flant ? ' --quorum-dynamic-voters=no' : ''} && drbdsetup new-minor ${resource} <minor> 0 --diskless`;
    case 'down':
      return `drbdsetup down ${resource}`;
    case 'quorum':
      return `drbdsetup resource-options ${resource} --quorum=${command.q} --quorum-minimum-redundancy=${command.qmr}`;
    case 'new-peer':
      return `drbdsetup new-peer ${resource} ${peer} --_name=${command.peer} ${NET} --allow-two-primaries=no --allow-remote-read=${yes(command.remoteRead)}`;
    case 'new-path':
      return `drbdsetup new-path ${resource} ${peer} <local> <remote>`;
    case 'bitmap':
      return `drbdsetup peer-device-options ${resource} ${peer} 0 --bitmap=${yes(command.keep)} ${RESYNC}`;
    case 'tiebreaker':
      return `drbdsetup peer-device-options ${resource} ${peer} 0 --peer-tiebreaker=${yes(command.counts)}`;
    case 'remote-read':
      return `drbdsetup net-options ${resource} ${peer} --allow-remote-read=${yes(command.allow)}`;
    case 'connect':
    case 'disconnect':
    case 'del-peer':
    case 'forget-peer':
      return `drbdsetup ${command.do} ${resource} ${peer}`;
    case 'create-md':
      return 'drbdmeta <minor> v09 <device> internal create-md --force 7';
    case 'attach':
      return 'drbdsetup attach <minor> <device> <device> internal';
    case 'detach':
      return 'drbdsetup detach <minor> --diskless';
    case 'non-voting':
      return `drbdsetup disk-options <minor> --non-voting=${yes(command.on)}`;
    case 'new-current-uuid':
      return `drbdsetup new-current-uuid <minor> ${command.clearBitmap ? '--clear-bitmap' : '--force-resync'}`;
  }
}
