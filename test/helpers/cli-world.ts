/**
 * The command line against the servers of an ApiWorld, all in this process, with a folder and a configuration of its own.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ApiWorld } from '../api/api-world.ts'
import { temporaryFolder } from './process-cluster.ts'
import { type Printed, runCommand } from './run-command.ts'

type Test = Parameters<typeof ApiWorld.withBucket>[0] & Parameters<typeof temporaryFolder>[0]
export type Line = Readonly<Record<string, unknown>>

/** What a command may read; the settings of the machine that runs the tests must not reach it. */
const SETTINGS = [
  ...(['HOLDFAST_TOKEN', 'HOLDFAST_ACCESS_KEY_ID', 'HOLDFAST_SECRET_KEY', 'HOLDFAST_ENDPOINT'] as const),
  ...([
    'HOLDFAST_ADMIN_ENDPOINT',
    'HOLDFAST_ADMIN_TOKEN',
    'HOLDFAST_TENANT',
    'HOLDFAST_CLUSTER_FILE',
  ] as const),
  ...(['HOLDFAST_CA_FILE', 'HOLDFAST_PROFILE', 'XDG_CONFIG_HOME'] as const),
]

export class CliWorld {
  readonly world: ApiWorld
  /** Empty; removed at the end. */
  readonly folder: string
  readonly endpoint: string

  /** With the bucket `photos` of the tenant `acme`, and a key for all its buckets. */
  static async start(t: Test): Promise<CliWorld> {
    const { world } = await ApiWorld.withBucket(t)
    const key = await world.memory.accessKey('acme', 'read,write,delete,admin')
    const made = new CliWorld(world, temporaryFolder(t))
    const before = SETTINGS.map((name) => [name, process.env[name]] as const)
    t.teardown(() => made.set(Object.fromEntries(before)))
    mkdirSync(join(made.folder, 'config'))
    made.set({
      ...Object.fromEntries(SETTINGS.map((name) => [name, undefined])),
      HOLDFAST_ENDPOINT: made.endpoint,
      HOLDFAST_ACCESS_KEY_ID: key.accessKeyId,
      HOLDFAST_SECRET_KEY: key.secretKey,
      XDG_CONFIG_HOME: join(made.folder, 'config'),
    })
    return made
  }

  private constructor(world: ApiWorld, folder: string) {
    this.world = world
    this.folder = folder
    this.endpoint = `http://127.0.0.1:${world.dataPort}`
  }

  /** Changes the environment; undefined removes a variable. */
  set(values: Readonly<Record<string, string | undefined>>): void {
    for (const [name, value] of Object.entries(values))
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  }

  file(name: string): string {
    return join(this.folder, name)
  }

  /** `put a.txt photos/` as one text; arguments with blanks are given by themselves. */
  run(typed: string, ...more: readonly string[]): Promise<Printed> {
    return runCommand(...typed.split(' '), ...more)
  }

  /** The lines of its standard output with --json. Throws when it fails. */
  async json(typed: string, ...more: readonly string[]): Promise<readonly Line[]> {
    const { code, out, err } = await this.run(typed, ...more, '--json')
    if (code !== 0) throw new Error(`holdfast ${typed} ended with ${code}: ${err}`)
    return out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line)
  }
}
