import { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';

const KEYWORD = proto.temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD;
const NAMES = ['KeelsonKind', 'KeelsonNamespace', 'KeelsonName', 'KeelsonPhase', 'KeelsonOperation'];
const DEADLINE_MS = 10_000;

/** Makes the search attributes of every Keelson workflow known; those that exist already are left alone. */
export async function registerSearchAttributes(address: string, namespace: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: DEADLINE_MS });
  try {
    await connection.withDeadline(Date.now() + DEADLINE_MS, async () => {
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
      const missing = NAMES.filter((name) => customAttributes?.[name] === undefined);
      if (missing.length === 0) return;
      const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
      await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
    });
  } finally {
    await connection.close();
  }
}
