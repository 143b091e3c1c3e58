/**
 * Uploads: how far each is, what became of it, and what can be done about it.
 */
import { Badge, Bar, Button, Card, RowButton, type Tone } from '../parts/basics.tsx'
import { clearEnded, repeat, stop, type Upload, uploads } from '../state/uploads.ts'
import { bytes, count } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.objects
/** Of a long list; the figures above count all of them. */
const SHOWN_MAX = 50

const TONES: Readonly<Record<Upload['state'], Tone>> = {
  waiting: 'quiet',
  running: 'info',
  done: 'good',
  failed: 'bad',
  stopped: 'warn',
}
const ORDER: readonly Upload['state'][] = ['failed', 'running', 'waiting', 'stopped', 'done']

export function UploadList() {
  const all = uploads.value
  if (all.length === 0) return null
  const of = (state: Upload['state']): number => all.filter((one) => one.state === state).length
  const shown = all.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state)).slice(0, SHOWN_MAX)
  return (
    <Card title={SAYS.uploads} actions={<Button onClick={clearEnded}>{SAYS.clear}</Button>}>
      <p role="status">
        {ORDER.filter((state) => of(state) > 0)
          .map((state) => `${count(of(state))} ${SAYS.states[state]}`)
          .join(', ')}
      </p>
      <ul aria-label={SAYS.uploads}>
        {shown.map((one) => (
          <One key={one.id} one={one} />
        ))}
      </ul>
    </Card>
  )
}

function One({ one }: { readonly one: Upload }) {
  const { id, key, file, state, storedBytes, reusedBytes, fault } = one
  return (
    <li class="operation">
      <div class="head">
        <b>{key}</b>
        <Badge tone={TONES[state]}>{SAYS.states[state]}</Badge>
        {state === 'failed' || state === 'stopped' ? (
          <RowButton text={SAYS.continue} of={key} onClick={() => repeat(id)} />
        ) : null}
        {state === 'running' || state === 'waiting' ? (
          <RowButton text={SAYS.stop} of={key} onClick={() => stop(id)} />
        ) : null}
      </div>
      {state === 'done' ? null : <Bar label={key} share={file.size === 0 ? 0 : storedBytes / file.size} />}
      <p class="soft">
        {SAYS.progress(bytes(storedBytes), bytes(file.size))}
        {reusedBytes === 0 ? '' : ` ${SAYS.reused(bytes(reusedBytes))}`}
        {fault === null ? '' : ` ${fault.message}`}
      </p>
    </li>
  )
}
