/**
 * What a dialog or a button would send, as a line for a shell: worked out when it is opened, and again while the fields change.
 */
import { useEffect, useState } from 'preact/hooks'
import { TEXT } from '../words/strings.ts'
import { Button, Copyable } from './basics.tsx'
import { Dialog } from './dialog.tsx'

const SAYS = TEXT.requests

type LineOf = () => Promise<string | null>

/** In a dialog. */
export function CurlLine({ line }: { readonly line: LineOf }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{SAYS.asCurl}</summary>
      <div class="stack">{isOpen ? <Shown line={line} /> : null}</div>
    </details>
  )
}

/** Beside a button that has no dialog. `of`: the label of that button. */
export function LineButton({ of, line }: { readonly of: string; readonly line: LineOf }) {
  const [isOpen, setOpen] = useState(false)
  const title = SAYS.lineOf(of)
  return (
    <>
      <Button kind="small" label={title} onClick={() => setOpen(true)}>
        {SAYS.curl}
      </Button>
      {isOpen ? (
        <Dialog title={title} onClose={() => setOpen(false)}>
          <p class="soft">{SAYS.token}</p>
          <Shown line={line} />
        </Dialog>
      ) : null}
    </>
  )
}

function Shown({ line }: { readonly line: LineOf }) {
  const [text, setText] = useState<string | null>(null)
  useEffect(() => void line().then(setText))
  return text === null ? <p class="soft">{SAYS.notYet}</p> : <Copyable text={text} label={SAYS.asCurl} />
}
