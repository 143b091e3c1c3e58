/**
 * Says that the node serves another build of the console, and offers to load it.
 */
import { Button, Notice } from '../parts/basics.tsx'
import { otherBuild } from '../state/build.ts'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.build

export function BuildNotice() {
  const other = otherBuild.value
  if (other === null) return null
  return (
    <Notice tone="info" title={SAYS[other.difference](other.served, other.own)}>
      <p>{SAYS.continues}</p>
      <div class="actions">
        <Button onClick={() => location.reload()}>{SAYS.reload}</Button>
      </div>
    </Notice>
  )
}
