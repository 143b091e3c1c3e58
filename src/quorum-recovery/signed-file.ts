/**
 * Reports and plans as files with a seal, which detects changes and files of another deployment.
 *
 * Layout: JSON { kind, body, seal }. The seal is HMAC-SHA256 in hex over `kind`, a line feed and the JSON of `body`, under a key derived
 * from the master key. docs/formats/recovery.md. Rule: the body is not used before its seal is verified. The seal grants no new right:
 * an owner of the master key can read every object anyway.
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
  if (signedFile.kind !== kind) throw unreadable(file, `it is not a ${kind}`)
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
    throw unreadable(file, 'it is not JSON', cause)
  }
  throw unreadable(file, 'it has no seal')
}

function unreadable(file: string, why: string, cause?: unknown): StartError {
  return new StartError('paper_unreadable', `Cannot use '${file}': ${why}`, {
    hint: 'Use files that collect and plan of the same command wrote, unchanged.',
    cause,
  })
}

function broken(file: string): StartError {
  return new StartError('seal_broken', `Cannot trust '${file}': its seal does not match`, {
    hint: 'It was changed, or it belongs to another deployment. Collect or plan again, with the master key file of this cluster.',
  })
}
