/**
 * A fake source and a target of real servers in this process, and the command line between them.
 */
import { ApiWorld, type ApiAnswer } from '../../api/api-world.ts'
import { type Printed, runCommand } from '../../helpers/run-command.ts'
import { temporaryFolder } from '../../helpers/process-cluster.ts'
import { FakeSource } from './fake-source.ts'

export interface ImportWorld {
  readonly source: FakeSource
  readonly world: ApiWorld
  /** Where large objects under way are written down. */
  readonly folder: string
  /** With the options that name both sides. */
  readonly run: (...args: readonly string[]) => Promise<Printed>
  /** The lines of `--json`, and the summary, which is the last. */
  readonly lines: (
    ...args: readonly string[]
  ) => Promise<{ readonly code: number; readonly lines: readonly Line[] }>
  /** Of the target. */
  readonly get: (path: string) => Promise<ApiAnswer>
  readonly put: (path: string, body: string) => Promise<ApiAnswer>
}

export type Line = Readonly<Record<string, unknown>>

type Test = Parameters<typeof ApiWorld.withBucket>[0] & Parameters<typeof temporaryFolder>[0]

export async function importWorld(t: Test): Promise<ImportWorld> {
  const source = await FakeSource.start(t)
  const { world, token } = await ApiWorld.withBucket(t)
  const folder = `${temporaryFolder(t)}/state`
  process.env['AWS_ACCESS_KEY_ID'] = 'AKID'
  process.env['AWS_SECRET_ACCESS_KEY'] = 'a secret'
  process.env['HOLDFAST_TOKEN'] = token
  const target = `http://127.0.0.1:${world.dataPort}`
  const sides = ['--endpoint', source.endpoint, '--target-endpoint', target, '--state-folder', folder]
  const run = (...args: readonly string[]): Promise<Printed> => runCommand('import', ...sides, ...args)
  const lines = async (...args: readonly string[]) => {
    const { code, out, err } = await run(...args, '--json')
    const printed = out === '' ? err : out
    const all = printed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
    return { code, lines: all }
  }
  const get = (path: string): Promise<ApiAnswer> => world.send({ path: `/api/v1/buckets/${path}`, token })
  const put = (path: string, body: string): Promise<ApiAnswer> =>
    world.send({ method: 'PUT', path: `/api/v1/buckets/${path}`, token, body })
  return { source, world, folder, run, lines, get, put }
}
