// Plain JavaScript, because an older Node cannot even read the TypeScript that the rest is written in.
const MINIMUM_MAJOR = 24;

if (Number(process.versions.node.split('.')[0]) < MINIMUM_MAJOR) {
  console.error(
    `The tests need Node ${MINIMUM_MAJOR}, and this is ${process.versions.node}. ` +
      'Run "npm ci" and then "npm test" or "npm run check": npm uses the Node that the project brings.',
  );
  process.exitCode = 1;
} else {
  const { main } = await import('./runner/main.ts');
  process.exitCode = await main(process.argv.slice(2));
}
