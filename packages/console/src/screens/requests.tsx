/**
 * The last requests of this page as lines for a shell, so that what was clicked can be repeated or scripted.
 */
import { useState } from 'preact/hooks'
import { Button, Copyable } from '../parts/basics.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { type AskedRequest, curlOf, requests } from '../state/requests.ts'
import { addressShown, linkTo } from '../state/route.ts'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.requests
const SHOWN_MAX = 20

export function RequestsButton() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setOpen(true)} label={SAYS.title}>
        {SAYS.curl}
      </Button>
      {isOpen ? <RequestsDialog onClose={() => setOpen(false)} /> : null}
    </>
  )
}

/** What filled it, each once: a screen asks again when something changes. */
function ofScreen(all: readonly AskedRequest[]): readonly AskedRequest[] {
  const asked = all
    .filter(({ screen }) => screen === addressShown())
    .map((one) => [curlOf(one), one] as const)
  return [...new Map(asked.toReversed()).values()]
}

function RequestsDialog({ onClose }: { readonly onClose: () => void }) {
  const [isAll, setAll] = useState(false)
  const shown = isAll
    ? ofScreen(requests.value)
    : requests.value.filter(({ method }) => method !== 'GET' && method !== 'HEAD')
  return (
    <Dialog title={SAYS.title} onClose={onClose}>
      <p class="soft">{SAYS.about}</p>
      <div class="actions">
        <Button onClick={() => setAll(!isAll)}>{isAll ? SAYS.onlyChanges : SAYS.all}</Button>
        <a href={linkTo('api')} onClick={onClose}>
          {SAYS.pages}
        </a>
      </div>
      {shown.length === 0 ? <p class="soft">{SAYS.none}</p> : null}
      <ul class="asked" aria-label={SAYS.title}>
        {shown.slice(0, SHOWN_MAX).map((one) => (
          <li key={one.id}>
            <Copyable text={curlOf(one)} label={SAYS.line(one.method, one.path, one.status)} />
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
