/**
 * Which of two changes of a key counts: that of this site, or what is at the other one. [docs/adr/0090-replication-to-a-second-site.md]
 *
 * Owns: the comparison. PURE. Rules: of one origin the order of its log decides; of two origins the later second, and of one second the greater
 * identity, so that both sites decide alike whichever asks. A change that was made over what is there is later, whatever the clocks say.
 */
import { identityText, type Mark, secondOf } from '../../state-machine/sites/mark.ts'
import type { RemoteVersion } from '../base/remote-store.ts'

/**
 * `absent`: there is nothing. `same`: it is there. `older`: what is there goes. `superseded`: a later change of this site is there. `later`: a
 * later change of another site is there.
 */
export type Precedence = 'absent' | 'same' | 'older' | 'superseded' | 'later'

/** The change of this site. */
export interface OwnChange {
  readonly mark: Mark
  /** Whether what is there had come here before the change was made. */
  readonly follows: (there: RemoteVersion) => boolean
}

/** `other`: the identity of the target; null: it has none. */
export function precedence(
  { mark: own, follows }: OwnChange,
  there: RemoteVersion | null,
  other: string | null,
): Precedence {
  if (there === null) return 'absent'
  const { mark } = there
  if (mark !== null && mark.clusterId === own.clusterId && mark.bucketId === own.bucketId) {
    if (mark.versionId === own.versionId) return 'same'
    return mark.versionId < own.versionId ? 'older' : 'superseded'
  }
  if (follows(there)) return 'older'
  const time = mark?.time ?? there.modifiedAt
  // A delete marker of a store that does not say when it was made: it hides nothing that has to stay.
  if (time === null) return there.isDeleteMarker ? 'absent' : 'older'
  const [ours, theirs] = [secondOf(own.time), secondOf(time)]
  if (ours !== theirs) return theirs < ours ? 'older' : 'later'
  return (mark === null ? (other ?? '') : identityText(mark)) < identityText(own) ? 'older' : 'later'
}
