/**
 * What a dialog would send, as a line for a shell: worked out when it is opened, and again while the fields change.
 */
import { useEffect, useState } from 'preact/hooks'
import { TEXT } from '../words/strings.ts'
import { Copyable } from './basics.tsx'

export function CurlLine({ line }: { readonly line: () => Promise<string | null> }) {
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useState<string | null>(null)
  useEffect(() => {
    if (isOpen) void line().then(setText)
  })
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{TEXT.requests.asCurl}</summary>
      <div class="stack">
        {text === null ? (
          <p class="soft">{TEXT.requests.notYet}</p>
        ) : (
          <Copyable text={text} label={TEXT.requests.asCurl} />
        )}
      </div>
    </details>
  )
}
