import type { Violation } from './source-tree.ts';

/** What the rules read of `package-lock.json`. */
export interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>;
}

const PROTOBUF_MAJOR = '8';

/** All packages of Temporal have one exact version, or their types and their native core do not fit. */
export function checkTemporal(
  dependencies: Readonly<Record<string, string>>,
  lock: Lock,
): readonly Violation[] {
  const wanted = Object.entries(dependencies).filter(([name]) => name.startsWith('@temporalio/'));
  const loose = wanted.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
  const installed = Object.entries(lock.packages).filter(([path]) =>
    /node_modules\/@temporalio\/[^/]+$/.test(path),
  );
  const versions = new Set([
    ...wanted.map(([, version]) => version),
    ...installed.map(([, { version }]) => version),
  ]);
  return [
    ...loose.map(([name, version]) => ({ at: 'package.json', message: `${name} ${version} is not exact` })),
    ...(versions.size > 1
      ? [{ at: 'package-lock.json', message: `several versions of Temporal: ${[...versions].join(', ')}` }]
      : []),
  ];
}

/** Temporal has one protobufjs, or it cannot replay a history that is written as JSON. */
export function checkProtobuf(lock: Lock): readonly Violation[] {
  const version = lock.packages['node_modules/protobufjs']?.version;
  const nested = Object.keys(lock.packages).filter((path) =>
    /@temporalio\/[^/]+\/(?:.*\/)?node_modules\/protobufjs$/.test(path),
  );
  return [
    ...(version?.split('.')[0] === PROTOBUF_MAJOR
      ? []
      : [{ at: 'package-lock.json', message: `protobufjs ${version} stands where Temporal looks for 8` }]),
    ...nested.map((at) => ({ at, message: 'a second protobufjs' })),
  ];
}
