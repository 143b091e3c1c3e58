/**
 * A node that is well, and set-ups made from it in which one thing is wrong; the doctor is the program itself.
 *
 * Owns: folders, configurations, the runs of the doctor. Rule: a set-up is a copy, so that no fault meets another.
 */
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { request } from 'undici'
import { stringify } from 'yaml'
import { MasterKey } from '../../src/access/master-key.ts'
import type { Examination } from '../../src/cli/doctor/examine.ts'
import type { Finding } from '../../src/cli/doctor/finding.ts'
import { until } from './async.ts'
import { plainly } from './plainly.ts'
import { freeBasePort, temporaryFolder } from './process-cluster.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const RUN_MS_MAX = 30_000

type Teardown = { teardown(callback: () => unknown): unknown }
export type Sections = Record<string, Record<string, unknown>>

export interface Visit {
  readonly exitCode: number | null
  readonly examination: Examination
  /** Those of one check, without those that are well. */
  troubles(check: string): readonly Finding[]
}

export class DoctorWard {
  readonly folder: string
  readonly basePort: number
  #setups = 0

  private constructor(folder: string, basePort: number) {
    this.folder = folder
    this.basePort = basePort
  }

  /** With a key and the data of a node that was started and stopped once. */
  static async open(t: Teardown): Promise<DoctorWard> {
    const ward = new DoctorWard(temporaryFolder(t), await freeBasePort(1))
    await MasterKey.create(join(ward.folder, 'master.key'))
    const node = await ward.run(t, ward.configure())
    await node.stop()
    return ward
  }

  /** The file of a configuration that is right, but for what `change` does to it. */
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

  /** Another directory with the same data; its name. */
  copyData(): string {
    const name = `data-${this.#setups++}`
    cpSync(join(this.folder, 'data'), join(this.folder, name), { recursive: true })
    return name
  }

  /** A node in the foreground until it is stopped; resolves when it is ready. */
  async run(t: Teardown, configFile: string) {
    const child = spawn(...plainly(process.execPath, MAIN, 'server', '--config', configFile), {
      stdio: 'ignore',
    })
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

  /** `before`: a program that starts the doctor, with its arguments. */
  async visit(configFile: string, before: readonly string[] = []): Promise<Visit> {
    const command = plainly(...before, process.execPath, MAIN, 'doctor', '--json', '--config', configFile)
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

/** Whether this machine lets a test mount a file system that nobody else sees. */
export function canMount(): boolean {
  return spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
}
