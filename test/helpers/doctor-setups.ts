/**
 * A healthy node, and set-ups made from it with one fault each; the doctor runs as the real program.
 *
 * Owns: folders, configurations, the runs of the doctor. Rule: each set-up is a copy, so that no two faults combine.
 */
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { request } from 'undici'
import { stringify } from 'yaml'
import { nodeProgram } from '../../scripts/build/node-program.ts'
import { MasterKey } from '../../src/access/master-key.ts'
import type { Examination } from '../../src/cli/doctor/examine.ts'
import type { Finding } from '../../src/doctor/finding.ts'
import { until } from './async.ts'
import { endsWithParent } from './ends-with-parent.ts'
import { withoutLoader } from './without-loader.ts'
import { freeBasePort, temporaryFolder } from './process-cluster.ts'

const RUN_MS_MAX = 600_000

type Teardown = { teardown(callback: () => unknown): unknown }
export type Sections = Record<string, Record<string, unknown>>

export interface DoctorRun {
  readonly exitCode: number | null
  readonly examination: Examination
  /** The findings of one check without those of severity ok. */
  troubles(check: string): readonly Finding[]
}

export class DoctorSetups {
  readonly folder: string
  readonly basePort: number
  #setups = 0

  private constructor(folder: string, basePort: number) {
    this.folder = folder
    this.basePort = basePort
  }

  /** Creates a key and the data of a node that was started and stopped once. */
  static async open(t: Teardown): Promise<DoctorSetups> {
    const setups = new DoctorSetups(temporaryFolder(t), await freeBasePort(1))
    await MasterKey.create(join(setups.folder, 'master.key'))
    const node = await setups.run(t, setups.configure())
    await node.stop()
    return setups
  }

  /** Writes a correct configuration with `change` applied; returns the file. */
  configure(change: (config: Sections) => void = () => undefined): string {
    const config: Sections = {
      node: { id: 'n1', data_dir: 'data' },
      cluster: { id: 'cluster-of-one', members: [{ id: 'n1', peer: this.address(2) }] },
      listeners: { data: this.address(0), admin: this.address(1), peer: this.address(2) },
      security: { master_key_file: 'master.key' },
    }
    change(config)
    return this.write(stringify(config))
  }

  write(text: string): string {
    const file = join(this.folder, `setup-${this.#setups++}.yaml`)
    writeFileSync(file, text)
    return file
  }

  address(offset: number): string {
    return `127.0.0.1:${this.basePort + offset}`
  }

  /** Copies the data directory; returns the name of the copy. */
  copyData(): string {
    const name = `data-${this.#setups++}`
    cpSync(join(this.folder, 'data'), join(this.folder, name), { recursive: true })
    return name
  }

  /** Runs a node in the foreground; resolves when it is ready. */
  async run(t: Teardown, configFile: string) {
    const server = [process.execPath, nodeProgram(), 'server', '--config', configFile]
    const child = spawn(...withoutLoader(...endsWithParent('KILL', server)), { stdio: 'ignore' })
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    t.teardown(() => {
      child.kill('SIGKILL')
      return ended
    })
    await until('the node is ready', () => this.#isReady())
    return {
      pid: child.pid ?? 0,
      signal: (signal: NodeJS.Signals) => child.kill(signal),
      stop: () => {
        child.kill('SIGTERM')
        return ended
      },
    }
  }

  async #isReady(): Promise<boolean> {
    try {
      const { statusCode, body } = await request(`http://${this.address(1)}/readyz`)
      await body.dump()
      return statusCode === 200
    } catch {
      // Not listening yet.
      return false
    }
  }

  /** Runs the doctor. `before`: a program that starts it, with its arguments. */
  async runDoctor(configFile: string, before: readonly string[] = []): Promise<DoctorRun> {
    const command = withoutLoader(
      ...before,
      process.execPath,
      nodeProgram(),
      'doctor',
      '--json',
      '--config',
      configFile,
    )
    const { code, stdout } = await ended(...command)
    const examination = JSON.parse(stdout) as Examination
    const troubles = (check: string): readonly Finding[] =>
      examination.findings.filter((each) => each.check === check && each.severity !== 'ok')
    return { exitCode: code, examination, troubles }
  }
}

/** Not spawnSync: the test may have to answer the doctor meanwhile. */
function ended(program: string, args: readonly string[]): Promise<{ code: number | null; stdout: string }> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'], timeout: RUN_MS_MAX })
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (stdout += piece))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout })))
}

/** Whether this machine lets a test mount a private file system. */
export function canMount(): boolean {
  return spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
}
