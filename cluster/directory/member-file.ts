/**
 * The members that this node knew last: `members.json` in the data directory, so that a restart finds its peers without the
 * configuration file.
 *
 * Layout: two lines, the record as JSON and the SHA-256 of that line in hex; docs/formats/members.md.
 * Rules: replaced whole; `first` is written before any other file of the data directory and never changed, because a node that starts
 * again from another first configuration could count votes that no voter gave; a damaged file refuses the start.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode, type FileOps, systemFileOps } from '../base/file-ops.ts'
import { replaceFile } from '../base/replace-file.ts'
import { StartError } from '../base/types.ts'
import type { Membership } from './directory.ts'

const FORMAT = 1
const FILE = 'members.json'

export class MemberFile {
  readonly #path: string
  readonly #ops: FileOps
  /** The last write: the next one waits for it. */
  #writing: Promise<void> = Promise.resolve()

  constructor(dataDir: string, ops: FileOps = systemFileOps) {
    this.#path = join(dataDir, FILE)
    this.#ops = ops
  }

  /** Null: there is none. Throws StartError when it cannot be understood. */
  async read(): Promise<Membership | null> {
    let text: string
    try {
      text = await readFile(this.#path, 'utf8')
    } catch (cause) {
      if (errorCode(cause) === 'ENOENT') return null
      throw unreadable(this.#path, cause)
    }
    try {
      return parse(text)
    } catch (cause) {
      throw unreadable(this.#path, cause)
    }
  }

  /** Durable when it resolves. */
  write(membership: Membership): Promise<void> {
    const line = JSON.stringify({ format: FORMAT, ...membership })
    this.#writing = this.#writing
      .catch(() => undefined)
      .then(() => replaceFile(this.#path, `${line}\n${digestOf(line)}\n`, this.#ops))
    return this.#writing
  }
}

/** Throws for any text that MemberFile did not write. */
function parse(text: string): Membership {
  const [line = '', digest] = text.split('\n')
  if (digest !== digestOf(line)) throw new Error('The digest is not that of the record')
  const { format, ...membership } = JSON.parse(line) as Membership & { readonly format: unknown }
  if (format !== FORMAT) throw new Error('The format is unknown')
  return membership
}

function digestOf(line: string): string {
  return createHash('sha256').update(line).digest('hex')
}

function unreadable(path: string, cause: unknown): StartError {
  const code = errorCode(cause)
  if (code !== undefined)
    return new StartError('members_unreadable', `Cannot start: ${path} cannot be read (${code})`, {
      cause,
      hint: 'Nothing was changed. Give this user read permission; if the disk fails, replace the node, or move the directory to another disk.',
    })
  return new StartError('damaged_members', `Cannot start: ${path} cannot be understood`, {
    cause,
    hint: 'Restore this file from a backup, or move the whole data directory away and let the node join again under another name.',
  })
}
