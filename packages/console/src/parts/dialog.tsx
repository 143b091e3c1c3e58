/**
 * A window over the page: the browser keeps the focus inside and closes it by Escape.
 */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { TEXT } from '../words/strings.ts'

export function Dialog({
  title,
  children,
  onClose,
}: {
  readonly title: string
  readonly children: ComponentChildren
  readonly onClose: () => void
}) {
  const window = useRef<HTMLDialogElement>(null)
  /** The event of its end comes later than the end. */
  const isGone = useRef(false)
  const id = useId()
  useEffect(() => {
    const shown = window.current
    shown?.showModal()
    // The browser would begin at the button that closes it.
    shown?.querySelector<HTMLElement>('form input, form select')?.focus()
    return () => {
      isGone.current = true
      shown?.close()
    }
  }, [])
  return (
    <dialog ref={window} aria-labelledby={id} onClose={() => (isGone.current ? undefined : onClose())}>
      <header>
        <h2 id={id}>{title}</h2>
        <button class="button plain square" type="button" aria-label={TEXT.close} onClick={onClose}>
          ×
        </button>
      </header>
      {children}
    </dialog>
  )
}
