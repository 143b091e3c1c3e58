/**
 * Which of the directories `state-<n>` is the state: the file CURRENT says so.
 *
 * Owns: the pointer, the numbering and the removal of what a crash left behind. Knows nothing of: rows.
 * Rule: the pointer is switched by rename between two fsyncs, after what it points to is durable and verified.
 */
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../../cluster/index.ts'

const POINTER = 'CURRENT'
const POINTER_DRAFT = 'CURRENT.new'
const NAME = /^state-([1-9][0-9]{0,14})$/

export class StateDirectory {
  readonly #dir: string

  constructor(dir: string) {
    this.#dir = dir
  }

  locationOf(name: string): string {
    return join(this.#dir, name)
  }

  /** The state is a cache of the log: where the log still reaches back to its beginning, it is made again. [ADR 0002] */
  unusable(what: string, cause?: unknown): StartError {
    const hint =
      `Stop this node and move ${this.#dir} away: it is made again from the Raft log, if that reaches back to its ` +
      'beginning. Otherwise the node refuses to start and says so; the others go on without it.'
    return new StartError('state_damaged', `Cannot open the state in ${this.#dir}: ${what}`, { hint, cause })
  }

  /** The name that CURRENT holds; null in a fresh directory. Creates the directory. Throws StartError. */
  async current(): Promise<string | null> {
    await mkdir(this.#dir, { recursive: true })
    let text: string
    try {
      text = await readFile(join(this.#dir, POINTER), 'utf8')
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
      throw this.unusable(`${POINTER} cannot be read`, cause)
    }
    const name = text.replace(/\n$/, '')
    if (!NAME.test(name)) throw this.unusable(`${POINTER} is damaged`)
    return name
  }

  /** The name after `name`; its directory is empty or absent afterwards. */
  async prepareNext(name: string | null): Promise<string> {
    const number = name === null ? 0 : Number(NAME.exec(name)?.[1])
    const next = `state-${number + 1}`
    await this.remove(next)
    return next
  }

  /** Durable when it resolves. If it throws, either of the two may be current after a restart. */
  async makeCurrent(name: string): Promise<void> {
    await syncDirectory(this.locationOf(name))
    const draft = join(this.#dir, POINTER_DRAFT)
    const file = await open(draft, 'w', 0o600)
    try {
      await file.writeFile(`${name}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, join(this.#dir, POINTER))
    await syncDirectory(this.#dir)
  }

  async remove(name: string): Promise<void> {
    await rm(this.locationOf(name), { recursive: true, force: true })
  }

  /** Everything that is not `current`: half-made installs, and old states whose removal was cut short. */
  async removeLeftovers(current: string | null): Promise<readonly string[]> {
    const names = await readdir(this.#dir)
    const leftovers = names.filter((name) => name !== current && (NAME.test(name) || name === POINTER_DRAFT))
    for (const name of leftovers) await this.remove(name)
    return leftovers
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
