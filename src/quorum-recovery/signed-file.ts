/**
 * Reports and plans as files that show whether anybody has changed them, or whether they are of another deployment.
 *
 * Layout: JSON { kind, body, seal }, the seal being HMAC-SHA256 in hex over `kind`, a line feed and the JSON of `body`, under a key derived
 * from the master key. docs/formats/recovery.md. Rule: nothing of a signed file is looked at before its seal was compared; whoever holds
 * the master key could read every object anyway, so nobody gains a right by it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { StartError } from '../../cluster/index.ts'
import type { MasterKey } from '../access/master-key.ts'

export type SignedFileKind = 'recovery-report' | 'recovery-plan' | 'skip-report' | 'skip-plan'

interface SignedFile {
  readonly kind: SignedFileKind
  readonly body: unknown
  readonly seal: string
}

export function signFile(masterKey: MasterKey, kind: SignedFileKind, body: object): string {
  const seal = createHmac('sha256', masterKey.signingKey('recovery')).update(textOf(kind, body)).digest('hex')
  return `${JSON.stringify({ kind, body, seal }, null, 2)}\n`
}

/** Throws StartError `paper_unreadable` or `seal_broken`. */
export async function readSignedFile<T>(
  masterKey: MasterKey,
  kind: SignedFileKind,
  file: string,
): Promise<T> {
  const signedFile = parse(file, await readFile(file, 'utf8'))
  if (signedFile.kind !== kind) throw unreadable(file, `it is no ${kind}`)
  const given = Buffer.from(signedFile.seal, 'hex')
  const isWhole = masterKey.verifyingKeys('recovery').some((key) => {
    const seal = createHmac('sha256', key).update(textOf(kind, signedFile.body)).digest()
    return seal.length === given.length && timingSafeEqual(seal, given)
  })
  if (!isWhole) throw broken(file)
  return signedFile.body as T
}

function textOf(kind: SignedFileKind, body: unknown): string {
  return `${kind}\n${JSON.stringify(body)}`
}

function parse(file: string, text: string): SignedFile {
  try {
    const signedFile = JSON.parse(text) as Partial<SignedFile> | null
    if (signedFile !== null && typeof signedFile.seal === 'string' && typeof signedFile.body === 'object')
      return signedFile as SignedFile
  } catch (cause) {
    throw unreadable(file, 'it is no JSON', cause)
  }
  throw unreadable(file, 'it has no seal')
}

function unreadable(file: string, why: string, cause?: unknown): StartError {
  return new StartError('paper_unreadable', `Cannot use '${file}': ${why}`, {
    hint: 'Name files that the collect and plan of the same command wrote, as they wrote them.',
    cause,
  })
}

function broken(file: string): StartError {
  return new StartError('seal_broken', `Cannot trust '${file}': its seal does not fit`, {
    hint: 'It was changed, or it is of another deployment. Collect or plan anew, with the master key file of this cluster.',
  })
}
