import { readFileSync } from 'node:fs';
import { badInput } from './cli-error.ts';

/** Reads a YAML or JSON file, `-` for standard input; every document in it, refused in words when it is neither. */
export async function readDocuments(path: string): Promise<readonly unknown[]> {
  const text = readText(path);
  // JSON is tried first, because it is the quicker one to read and needs nothing to be loaded.
  const json = tryJson(text);
  if (json !== undefined) return [json];
  const { parseAllDocuments } = await import('yaml');
  const documents = parseAllDocuments(text);
  if ('empty' in documents) throw badInput(`${path} is empty`);
  for (const document of documents) {
    const [problem] = document.errors;
    if (problem !== undefined) throw badInput(`${path} is neither YAML nor JSON: ${problem.message}`);
  }
  return documents.map((document): unknown => document.toJS()).filter((value) => value !== null);
}

/** Reads a file that holds exactly one document. */
export async function readDocument(path: string): Promise<unknown> {
  const documents = await readDocuments(path);
  if (documents.length !== 1)
    throw badInput(`${path} holds ${documents.length} documents, and one is wanted`);
  return documents[0];
}

function readText(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (error) {
    throw badInput(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON, so it is YAML or a mistake, which the YAML parser describes better.
    return undefined;
  }
}
