import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findFreeOffset } from '../../../deploy/local/free-ports.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/keelson.mjs', import.meta.url));

test('the demo shows each operation, ends with a summary, and leaves nothing behind', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-demo-'));
  const home = join(directory, 'home');
  try {
    const { code, output } = await runDemo(home);
    expect(code, output).toBe(0);
    expect(output).toMatch(/Temporal Web UI +http:\/\/127\.0\.0\.1:\d+/);
    expect(output).toMatch(/✓ +\d+ VerifyHealth/);
    expect(output).toMatch(/✓ +valkey-cluster\/demo-\w+\/cache +apply a ValkeyCluster .* done/);
    expect(output).toMatch(/✓ +valkey-cluster\/demo-\w+\/cache +upgrade it .* done/);
    expect(output).toMatch(/✓ +valkey-cluster\/demo-\w+\/cache +delete it .* done/);
    expect(output).toMatch(/✓ +spot-agent\/cl-\w+\/agt-\w+ +let an agent serve .* done/);
    expect(output).toMatch(/i-\w+ serves with epoch 1 since at most/);
    expect(output).toMatch(/✓ +spot-agent\/cl-\w+\/agt-\w+ +take that instance back.* done/);
    expect(existsSync(home)).toBe(false);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

function runDemo(home: string): Promise<{ code: number | null; output: string }> {
  const args = [PROGRAM, 'demo', '--yes', '--port-offset', String(findFreeOffset())];
  const child = spawn(process.execPath, args, { env: { ...process.env, KEELSON_HOME: home } });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}
