import type { Container } from '../api/objects.ts';
import type { Image } from '../config.ts';
import type { NodeContext } from '../node/context.ts';
import { buildEnvironment } from '../pod/environment.ts';
import { listEnvironmentReferences } from '../pod/references.ts';
import { readReferencedData } from '../volumes/references.ts';
import { StartProblem, buildCommandLine, hostnameOf } from './blueprint.ts';
import { createRunFiles } from './files.ts';
import { markerVariable } from './process.ts';
import type { Launch } from './process.ts';
import type { PodHandle } from './runner.ts';

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Looks the image of a container up; the second failure in a row counts as held back, as a kubelet has it. */
export function findImage(context: NodeContext, container: Container, isRepeated: boolean): Image {
  const image = context.images.find(container.image);
  if (image !== undefined) return image;
  if (container.imagePullPolicy === 'Never') {
    const message = `Container image "${container.image}" is not present with pull policy of Never`;
    throw new StartProblem('ErrImageNeverPull', message);
  }
  const message = `failed to pull and unpack image "${container.image}": not found in the image catalogue`;
  if (!isRepeated) throw new StartProblem('ErrImagePull', message);
  throw new StartProblem(
    'ImagePullBackOff',
    `Back-off pulling image "${container.image}": ErrImagePull: ${message}`,
  );
}

/** Gathers all that a run of a container needs; throws in words when something is missing. */
export async function prepareLaunch(
  handle: PodHandle,
  container: Container,
  image: Image,
  attempt: number,
  id: string,
): Promise<Launch> {
  const { context, directory, volumes, hostsFile } = handle;
  const pod = handle.pod();
  const references = listEnvironmentReferences(container);
  const data = await readReferencedData(context.api, pod.metadata.namespace, references);
  const variables = buildEnvironment(pod, container, handle.facts(), data);
  const files = createRunFiles(directory, container.name, attempt);
  const place = volumes.place.bind(volumes);
  const command = buildCommandLine({
    pod,
    container,
    image,
    variables,
    place,
    files,
    hostsFile,
    bwrap: context.bwrap,
  });
  const env = {
    PATH: path,
    HOME: '/root',
    HOSTNAME: hostnameOf(pod),
    ...context.environment,
    ...Object.fromEntries(variables),
    [markerVariable]: id,
  };
  return { command, env, logFile: files.log, statusFile: files.status };
}
