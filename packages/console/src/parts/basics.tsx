/**
 * The small parts of every screen: buttons, badges, bars, notices, facts, the loaded or failed state of a part.
 */
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { percent, time } from '../words/format.ts'
import type { Fault, Resource } from '../state/resource.ts'
import { may, type OperationName } from '../state/rights.ts'
import { caller } from '../state/session.ts'
import { TEXT } from '../words/strings.ts'

export type Tone = 'good' | 'warn' | 'bad' | 'quiet' | 'info'

interface ButtonProps {
  readonly children: ComponentChildren
  readonly onClick?: () => void
  readonly kind?: 'primary' | 'danger' | 'plain' | 'small'
  readonly type?: 'button' | 'submit'
  readonly isDisabled?: boolean
  readonly label?: string
  /** The operation of the admin API that it leads to: without the right to it, it takes no click and says why. */
  readonly needs?: OperationName
}

export function Button({
  children,
  onClick,
  kind = 'plain',
  type = 'button',
  isDisabled = false,
  label,
  needs,
}: ButtonProps) {
  const why = needs === undefined || may(needs) ? null : TEXT.rights.denied(caller.value?.role ?? '')
  const title = why ?? label
  return (
    <button
      class={`button ${kind}`}
      type={type}
      disabled={isDisabled || why !== null}
      {...(onClick === undefined ? {} : { onClick })}
      {...(label === undefined ? {} : { 'aria-label': label })}
      {...(title === undefined ? {} : { title })}
    >
      {children}
    </button>
  )
}

/** A button of one row of several: its label says which row it is for. */
export function RowButton({
  text,
  of,
  ...props
}: Omit<ButtonProps, 'children' | 'label'> & { readonly text: string; readonly of: string }) {
  return (
    <Button {...props} label={`${text}: ${of}`}>
      {text}
    </Button>
  )
}

export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}

/** `share`: 0 to 1. */
export function Bar({
  share,
  label,
  tone = 'info',
}: {
  readonly share: number
  readonly label: string
  readonly tone?: Tone
}) {
  const whole = Math.round(Math.min(1, Math.max(0, share)) * 100)
  return (
    <span
      class={`bar ${tone}`}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={whole}
      aria-valuetext={percent(share)}
    >
      <span style={{ width: `${whole}%` }} />
    </span>
  )
}

export function Notice({
  tone,
  title,
  children,
}: {
  readonly tone: Tone
  readonly title: string
  readonly children?: ComponentChildren
}) {
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <b>{title}</b>
      {children}
    </div>
  )
}

/** `title`: what failed; a part that was to be shown unless said otherwise. */
export function FaultNotice({
  fault,
  title = TEXT.fault.title,
}: {
  readonly fault: Fault
  readonly title?: string
}) {
  const { kind, message, requestId } = fault
  const says =
    kind === 'denied' ? TEXT.fault.denied : kind === 'unreachable' ? TEXT.fault.unreachable : message
  return (
    <Notice tone={kind === 'denied' ? 'quiet' : 'bad'} title={title}>
      <p>{says}</p>
      {requestId === null ? null : <p class="soft code">{TEXT.requestId(requestId)}</p>}
    </Notice>
  )
}

/** The value once it is there; before it, that it is loaded, or why not. */
export function Loaded<T>({
  of,
  children,
}: {
  readonly of: Resource<T>
  readonly children: (value: T) => ComponentChildren
}) {
  const value = of.value.value
  const fault = of.fault.value
  if (value === null) return fault === null ? <Skeleton /> : <FaultNotice fault={fault} />
  return (
    <>
      {fault === null ? null : (
        <Notice tone="warn" title={TEXT.fault.stale}>
          <p>{fault.message}</p>
        </Notice>
      )}
      {children(value)}
    </>
  )
}

export function Skeleton() {
  return (
    <div class="skeleton" role="status">
      <span class="unseen">{TEXT.loading}</span>
    </div>
  )
}

/** Name and value pairs. */
export function FactList({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

export function Card({
  title,
  children,
  actions,
}: {
  readonly title?: string
  readonly children: ComponentChildren
  readonly actions?: ComponentChildren
}) {
  return (
    <section class="card">
      {title === undefined ? null : (
        <header>
          <h2>{title}</h2>
          {actions}
        </header>
      )}
      {children}
    </section>
  )
}

export function Time({ iso }: { readonly iso: string | null }) {
  return iso === null ? <span class="soft">{TEXT.never}</span> : <time dateTime={iso}>{time(iso)}</time>
}

/** A text to take along, with a button that copies it. */
export function Copyable({ text, label }: { readonly text: string; readonly label: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = (): void => {
    void navigator.clipboard?.writeText(text).then(() => setCopied(true))
  }
  return (
    <div class="copyable">
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <Button onClick={copy} label={`${TEXT.copy}: ${label}`}>
        {isCopied ? TEXT.copied : TEXT.copy}
      </Button>
    </div>
  )
}

const ICONS = {
  health: 'M3 12h4l2-6 4 12 2-6h6',
  charts: 'M4 4v16h16M8 15l3-5 4 3 4-7',
  cluster: 'M4 4h16v6H4zM4 14h16v6H4zM8 7h.01M8 17h.01',
  operations: 'M12 3v4m0 10v4M3 12h4m10 0h4M6 6l2.5 2.5m7 7L18 18M6 18l2.5-2.5m7-7L18 6',
  tenants: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zm8 0a3 3 0 1 0 0-6M2 20c0-4 3-6 6-6s6 2 6 6m2-6c3 0 6 2 6 6',
  objects: 'M4 7l8-4 8 4v10l-8 4-8-4zM4 7l8 4 8-4M12 11v10',
  backups: 'M4 6c0-4 16-4 16 0s-16 4-16 0v12c0 4 16 4 16 0V6M4 12c0 4 16 4 16 0',
  audit: 'M6 3h9l4 4v14H6zM9 10h7M9 14h7M9 18h4',
  api: 'M8 7l-5 5 5 5m8-10l5 5-5 5M14 5l-4 14',
  docs: 'M4 5c3-1 6-1 8 1 2-2 5-2 8-1v14c-3-1-6-1-8 1-2-2-5-2-8-1zM12 6v14',
  user: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4 4-6 8-6s8 2 8 6',
  refresh: 'M20 11a8 8 0 1 0-2 6m2-12v6h-6',
  out: 'M10 4H5v16h5M14 8l4 4-4 4m4-4H9',
  theme: 'M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9z',
  good: 'M5 13l4 4L19 7',
  warn: 'M12 4l9 16H3zM12 10v4m0 3h.01',
  unknown: 'M9 9a3 3 0 1 1 4 3c-1 .5-1 1-1 2m0 3h.01',
} as const

export type IconName = keyof typeof ICONS

export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={ICONS[name]} />
    </svg>
  )
}
