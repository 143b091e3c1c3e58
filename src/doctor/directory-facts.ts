/**
 * Examines the data directory: stat, identity, markers of the state.
 *
 * Owns: the reading. Rule: files are only opened for reading; nothing is created or changed, and a running node is not disturbed.
 */
import { access, constants, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { findRemovalNotice, findIdentity, isWaiting, SkipFile, StartError } from '../../cluster/index.ts'
import { inspectState, type StateOnDisk } from '../store/state/state-inspection.ts'
import type { DirectoryFacts, IdentityFacts, SkipFacts } from './directory-checks.ts'

export async function directoryFacts(path: string): Promise<DirectoryFacts> {
  const nothing = { path, mode: 0, isOwn: true }
  try {
    const found = await stat(path)
    const isOwn = found.uid === process.geteuid?.()
    const kind = found.isDirectory() ? 'directory' : 'other'
    return { path, kind, mode: found.mode & 0o777, isOwn, isWritable: await mayUse(path) }
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT'
    if (!isMissing) return { ...nothing, kind: 'unreachable', isWritable: false }
    return { ...nothing, kind: 'nothing', isWritable: await mayUse(await nearestAbove(path)) }
  }
}

async function mayUse(path: string): Promise<boolean> {
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return true
  } catch {
    // Only whether it is usable matters here; the mode shows why it is not.
    return false
  }
}

async function nearestAbove(path: string): Promise<string> {
  const above = dirname(path)
  if (above === path) return path
  try {
    await stat(above)
    return above
  } catch {
    // It does not exist either, or cannot be examined: the next directory up decides.
    return nearestAbove(above)
  }
}

/** The fingerprint of the key of this directory; null: none that was compared with the key of the cluster. */
export async function agreedKeyOf(
  dataDir: string,
  { identity }: Pick<IdentityFacts, 'identity'>,
): Promise<string | null> {
  if (identity === null || (await isWaiting(dataDir).catch(() => false))) return null
  return identity.fingerprint === '' ? null : identity.fingerprint
}

export async function identityFacts(dataDir: string): Promise<Omit<IdentityFacts, 'expected'>> {
  try {
    const identity = await findIdentity(dataDir)
    const removalNotice = identity === null ? null : await findRemovalNotice(dataDir, identity.nodeId)
    return { identity, failure: null, removalNotice }
  } catch (cause) {
    if (!(cause instanceof StartError)) throw cause
    const { code, message, hint } = cause
    return {
      identity: null,
      removalNotice: null,
      failure: { code, message: message.replace(/^Cannot start: /, ''), hint },
    }
  }
}

export function skipFacts(dataDir: string, clusterId: string): SkipFacts {
  try {
    return { skips: SkipFile.open(dataDir, clusterId).skips, failure: null }
  } catch (cause) {
    if (!(cause instanceof StartError)) throw cause
    return { skips: [], failure: cause }
  }
}

export function stateFacts(dataDir: string): Promise<StateOnDisk> {
  return inspectState(join(dataDir, 'state'))
}
