/**
 * The owner of a data directory: `identity.json`, made once, checked at every start.
 *
 * Layout: JSON { format: 1, clusterId, nodeId, incarnation, fingerprint, boot, before }, mode 0600. `incarnation` names the directory and
 * is lost with it; `boot` names the last process on it and rises from one to the next by a step that two copies of the directory do not
 * share; `before` are the processes before it, starting with the last registered one. Knows nothing of: the meaning of the fingerprint.
 * Rules: nothing is changed before every check has passed; a directory that holds data but no identity is never given a new one,
 * because a node that forgot its promises must not vote under its old name.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Membership } from './directory.ts'
import { METADATA_KEY_FILE } from '../base/metadata-cipher.ts'
import { StartError, type ClusterOptions } from '../base/types.ts'

export interface Identity {
  readonly clusterId: string
  readonly nodeId: string
  readonly incarnation: string
  /** Empty: the last fingerprint was not that of the group. */
  readonly fingerprint: string
  readonly boot: number
  /** Ascending; null: the last build that ran here did not record them. */
  readonly before: readonly number[] | null
}

const FORMAT = 1
const BOOT_STEP_MAX = 2 ** 20
/** Kept: the first, which was registered, and the last ones. */
const BEFORE_MAX = 64
const FILE = 'identity.json'
/** The file that repair leaves in the data directory at a clean stop (repair/sweep-file.ts). */
export const SWEEP_FILE = 'sweep.json'
/** Directories that only a node that has run can have left. */
const DATA_DIRECTORIES: readonly string[] = ['raft', 'blobs']
/** The lock of the data directory, a folder that file systems make at their root, and the key that a start makes first. */
const HARMLESS: readonly string[] = ['lock', 'lost+found', METADATA_KEY_FILE, `${METADATA_KEY_FILE}.tmp`]
const STRAYS_NAMED_MAX = 5

/** The options with which a data directory is compared. */
export type Expected = Pick<
  ClusterOptions,
  'clusterId' | 'nodeId' | 'dataDir' | 'members' | 'isJoining' | 'fingerprint' | 'olderFingerprints'
>

/** Checks that this directory belongs to this node; changes nothing. Throws StartError. */
export async function checkIdentity(options: Expected, known: Membership | null): Promise<void> {
  const { nodeId, dataDir, members, isJoining = false } = options
  const isCommitted = known !== null && (known.isJoining || known.index > 0)
  if (!isJoining && !isCommitted && !members.some((member) => member.nodeId === nodeId)) {
    throw new StartError(
      'unknown_member',
      `Cannot start: "${nodeId}" is not among the members of the cluster`,
      {
        hint: `Set the node id to one of ${members.map((member) => member.nodeId).join(', ')}, or add this node to the members; start a node that is to join a running cluster with --join.`,
      },
    )
  }
  const found = await findIdentity(dataDir)
  if (found) compare(found, options, known)
  else await refuseLeftovers(dataDir)
  // With `members.json` it is an earlier first start of this node that a crash interrupted.
  if (found === null && known === null && isJoining) await refuseStrays(dataDir)
  if (isJoining && found !== null && known?.isJoining !== true) throw notEmpty(dataDir)
}

/** The identity in this directory; null: it has none yet. Changes nothing. Throws StartError. */
export async function findIdentity(dataDir: string): Promise<Identity | null> {
  const found = await readIdentity(dataDir)
  if (found === null) await refuseLeftovers(dataDir)
  return found
}

/** Makes the identity if there is none and counts this start. The caller has checked it and holds the lock. Throws StartError. */
export async function openIdentity(
  options: Pick<Expected, 'clusterId' | 'nodeId' | 'dataDir' | 'fingerprint'>,
): Promise<Identity> {
  const { clusterId, nodeId, dataDir, fingerprint } = options
  const found = await readIdentity(dataDir)
  const incarnation = found?.incarnation ?? randomBytes(10).toString('hex')
  const boot = found === null ? 1 : found.boot + randomInt(1, BOOT_STEP_MAX)
  const identity = { clusterId, nodeId, incarnation, fingerprint, boot, before: ancestorsOf(found) }
  try {
    await writeIdentity(dataDir, identity)
  } catch (error) {
    throw unusable(dataDir, error)
  }
  return identity
}

/** Makes the next process of this directory come after `boot` if the present count is lower. The caller holds the lock. */
export async function continueFrom(dataDir: string, identity: Identity, boot: number): Promise<void> {
  if (boot > identity.boot) await writeIdentity(dataDir, { ...identity, boot, before: [] })
}

function ancestorsOf(found: Identity | null): readonly number[] | null {
  if (found === null) return []
  if (found.before === null) return null
  const all = [...found.before, found.boot]
  return all.length <= BEFORE_MAX ? all : [...all.slice(0, 1), ...all.slice(1 - BEFORE_MAX)]
}

function compare(found: Identity, options: Expected, known: Membership | null): void {
  const { clusterId, nodeId, dataDir, fingerprint, olderFingerprints = [] } = options
  if (found.clusterId !== clusterId) {
    throw new StartError(
      'foreign_cluster',
      `Cannot start: ${dataDir} belongs to cluster "${found.clusterId}", not "${clusterId}"`,
      {
        hint: 'Point this node to its own data directory, or correct the cluster id in its configuration.',
      },
    )
  }
  if (found.nodeId !== nodeId) {
    throw new StartError(
      'foreign_node',
      `Cannot start: ${dataDir} belongs to node "${found.nodeId}", not "${nodeId}"`,
      {
        hint: 'Point this node to its own data directory, or correct the node id in its configuration.',
      },
    )
  }
  // A node that is not a member yet has sealed nothing: its key is compared with that of the cluster when it has caught up.
  if (known?.isJoining === true || found.fingerprint === '') return
  if (found.fingerprint !== fingerprint && !olderFingerprints.includes(found.fingerprint)) {
    throw new StartError(
      'wrong_fingerprint',
      `Cannot start: ${dataDir} was made with another key fingerprint`,
      {
        hint: 'Give this node the key file with which the cluster was made; nothing in the data directory was changed.',
      },
    )
  }
}

async function readIdentity(dataDir: string): Promise<Identity | null> {
  let text: string
  try {
    text = await readFile(join(dataDir, FILE), 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw unusable(dataDir, error)
  }
  try {
    return parseIdentity(text)
  } catch (cause) {
    throw new StartError('damaged_identity', `Cannot start: ${join(dataDir, FILE)} cannot be understood`, {
      cause,
      hint: 'Restore this file from a backup. Without it the node cannot know whose data it holds.',
    })
  }
}

async function refuseLeftovers(dataDir: string): Promise<void> {
  const kept = (await namesIn(dataDir)).filter((name) => DATA_DIRECTORIES.includes(name))
  if (kept.length > 0) throw identityMissing(dataDir, kept)
}

/** The owner of such files is unknown, and a member overwrites a file that has the name of one of its own. */
async function refuseStrays(dataDir: string): Promise<void> {
  const strays = (await namesIn(dataDir)).filter((name) => !HARMLESS.includes(name))
  if (strays.length > 0) throw straysIn(dataDir, strays)
}

async function namesIn(dataDir: string): Promise<readonly string[]> {
  try {
    return await readdir(dataDir)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw unusable(dataDir, error)
  }
}

/** Temporary file, fsync, rename, fsync of the directory: after a crash the file has the old or the new content, never a mixture. */
export async function writeIdentity(dataDir: string, identity: Identity): Promise<void> {
  const { clusterId, nodeId, incarnation, fingerprint, boot, before } = identity
  const ancestors = before === null ? {} : { before }
  const fields = { format: FORMAT, clusterId, nodeId, incarnation, fingerprint, boot, ...ancestors }
  const temporary = join(dataDir, `${FILE}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(`${JSON.stringify(fields, null, 2)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, join(dataDir, FILE))
  } finally {
    await rm(temporary, { force: true })
  }
  const directory = await open(dataDir, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

function parseIdentity(text: string): Identity {
  const fields: unknown = JSON.parse(text)
  if (typeof fields !== 'object' || fields === null) throw new TypeError('The identity is not an object')
  const row = new Map<string, unknown>(Object.entries(fields))
  if (row.get('format') !== FORMAT)
    throw new TypeError(`The identity has format ${String(row.get('format'))}`)
  const boot = row.get('boot')
  if (typeof boot !== 'number' || !Number.isSafeInteger(boot) || boot < 0)
    throw new TypeError('"boot" is not a count')
  const [clusterId, nodeId, incarnation, fingerprint] = [
    'clusterId',
    'nodeId',
    'incarnation',
    'fingerprint',
  ].map((name) => {
    const value = row.get(name)
    if (typeof value !== 'string') throw new TypeError(`"${name}" is not a string`)
    return value
  }) as [string, string, string, string]
  return { clusterId, nodeId, incarnation, fingerprint, boot, before: beforeIn(row.get('before')) }
}

function beforeIn(value: unknown): readonly number[] | null {
  if (value === undefined) return null
  if (Array.isArray(value) && value.length <= BEFORE_MAX && value.every((one) => Number.isSafeInteger(one)))
    return value as readonly number[]
  throw new TypeError('"before" is not a list of counts')
}

function identityMissing(dataDir: string, kept: readonly string[]): StartError {
  return new StartError(
    'identity_missing',
    `Cannot start: ${dataDir} holds ${kept.join(' and ')}, but no ${FILE}`,
    {
      hint: `Restore ${FILE}, or move the whole directory away: a node never starts on data of unknown origin.`,
    },
  )
}

function notEmpty(dataDir: string): StartError {
  return new StartError('data_not_empty', `Cannot join: ${dataDir} belongs to a member already`, {
    hint: 'Start this node without --join, or give it an empty data directory and a name that was never used.',
  })
}

function straysIn(dataDir: string, strays: readonly string[]): StartError {
  const named = strays.toSorted().slice(0, STRAYS_NAMED_MAX).join("', '")
  const more = strays.length > STRAYS_NAMED_MAX ? ` and ${strays.length - STRAYS_NAMED_MAX} more` : ''
  return new StartError(
    'data_not_empty',
    `Cannot join: ${dataDir} is not empty, it holds '${named}'${more}`,
    {
      hint: 'A node joins with an empty data directory: move these files elsewhere, or set node.data_dir to an empty one. Nothing was changed.',
    },
  )
}

function unusable(dataDir: string, cause: unknown): StartError {
  return new StartError(
    'data_dir_unusable',
    `Cannot use the data directory ${dataDir}: ${messageOf(cause)}`,
    {
      cause,
      hint: 'Make sure that the directory exists, is on a mounted disk and can be written by this user.',
    },
  )
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
