/**
 * Opens the targets of the cluster by their names.
 *
 * Owns: what the row of a target becomes. Knows nothing of: sockets, settings; both are passed in. Rules: the secret of a target is opened here and goes
 * nowhere but into signatures; a target that was set is used only where its marker lies.
 */
import type { MasterKey } from '../../access/master-key.ts'
import { backupTargetSecret } from '../../access/sealing-contexts.ts'
import { backupKeys } from '../../state-machine/backup-plans/keys.ts'
import type { BackupPlace } from '../../state-machine/backup-plans/records.ts'
import type { View } from '../../state-machine/base/view.ts'
import { mark, MarkedTarget, probe } from './marked-target.ts'
import type { S3Outside } from './s3-requests.ts'
import { S3Target } from './s3-target.ts'
import { type BackupTarget, TargetRefused } from './target.ts'

export interface TargetBookParts {
  readonly state: View
  readonly masterKey: Pick<MasterKey, 'open'>
  /** Of this node, by a text such as `directory:weekly`. Throws TargetRefused. */
  readonly openDirectory: (text: string) => BackupTarget
  /** `ca`: PEM; null: the authorities that Node.js knows. */
  readonly outside: (ca: string | null) => S3Outside
}

/** A place as a request names it, with its secret in the clear. */
export type OpenPlace =
  | Extract<BackupPlace, { kind: 'directory' }>
  | (Omit<Extract<BackupPlace, { kind: 's3' }>, 'secret'> & { readonly secretKey: string })

export class TargetBook {
  readonly #parts: TargetBookParts

  constructor(parts: TargetBookParts) {
    this.#parts = parts
  }

  /** `text`: the name of a target, or a directory such as `directory:weekly`. Throws TargetRefused. */
  open(text: string): BackupTarget {
    if (text.includes(':')) return this.#parts.openDirectory(text)
    const record = this.#parts.state.get(backupKeys.backupTarget(text))
    if (record === undefined)
      throw new TargetRefused(
        `There is no backup target "${text.slice(0, 80)}": set it, or write directory: and a folder`,
      )
    const { name, place, markerId } = record
    return new MarkedTarget(this.#openPlace(this.#opened(name, place)), { name, markerId })
  }

  /** Throws TargetError. */
  probe(place: OpenPlace): Promise<void> {
    return this.#with(place, probe)
  }

  /** Throws TargetError. */
  mark(place: OpenPlace, markerId: string): Promise<void> {
    return this.#with(place, (target) => mark(target, markerId))
  }

  /** Throws when no master key here opens the secret. */
  secretOf(name: string, place: Extract<BackupPlace, { kind: 's3' }>): string {
    return Buffer.from(this.#parts.masterKey.open(place.secret, backupTargetSecret(name))).toString('utf8')
  }

  async #with(place: OpenPlace, work: (target: BackupTarget) => Promise<void>): Promise<void> {
    const target = this.#openPlace(place)
    try {
      await work(target)
    } finally {
      await target.close()
    }
  }

  #opened(name: string, place: BackupPlace): OpenPlace {
    if (place.kind === 'directory') return place
    const { secret: _, ...rest } = place
    return { ...rest, secretKey: this.secretOf(name, place) }
  }

  #openPlace(place: OpenPlace): BackupTarget {
    if (place.kind === 'directory') return this.#parts.openDirectory(`directory:${place.folder}`)
    const { endpoint, bucket, prefix, region, accessKeyId, secretKey, ca } = place
    const credentials = { accessKeyId, secretKey, sessionToken: null }
    const below = prefix === '' ? bucket : `${bucket}/${prefix}`
    const description = `s3 ${endpoint.replace(/\/$/, '')}/${below}`
    const store = { endpoint: new URL(endpoint), bucket, prefix, region, credentials, description }
    return new S3Target(store, this.#parts.outside(ca))
  }
}
