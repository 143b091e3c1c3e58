/**
 * The bytes of an object: saved as a file, or shown where that is safe.
 */
import { useEffect, useState } from 'preact/hooks'
import type { Holdfast } from '../../../client/src/index.ts'
import { BY_KEY } from '../parts/access.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { Bar, Notice } from '../parts/basics.tsx'
import { canShow, save, show, type Shown } from '../state/downloads.ts'
import type { OneObject } from '../state/object-data.ts'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.objects

export function Bytes({ one: { name, head } }: { readonly one: OneObject }) {
  const [share, setShare] = useState<number | null>(null)
  const [isTooLarge, setTooLarge] = useState(false)
  const [isSaved, setSaved] = useState(false)
  const [shown, setShown] = useState<Shown | null>(null)
  useEffect(
    () => () => {
      if (shown?.kind === 'picture') URL.revokeObjectURL(shown.url)
    },
    [shown],
  )
  if (head === null) return null
  const { contentType, size, versionId } = head
  const wanted = { ...name, size: size ?? 0, ...(versionId === null ? {} : { versionId }) }
  const asks = (api: Holdfast): Promise<unknown> =>
    api.getObject({ ...name, ...(versionId === null ? {} : { versionId }) })
  return (
    <div class="stack">
      <div class="actions">
        <ActionButton
          access={BY_KEY}
          label={SAYS.download}
          run={async (api) => {
            setSaved(false)
            setTooLarge(!(await save(api, wanted, setShare)))
          }}
          asks={asks}
          onDone={() => {
            setShare(null)
            setSaved(true)
          }}
        />
        {canShow(contentType, wanted.size) ? (
          <ActionButton
            access={BY_KEY}
            label={SAYS.preview}
            run={async (api) => setShown(await show(api, wanted, contentType ?? ''))}
            asks={asks}
          />
        ) : null}
      </div>
      {share === null ? null : <Bar label={SAYS.download} share={share} />}
      {isTooLarge ? <Notice tone="warn" title={SAYS.tooLarge} /> : null}
      {isSaved && !isTooLarge ? <Notice tone="good" title={SAYS.verified} /> : null}
      {shown?.kind === 'picture' ? <img class="preview" src={shown.url} alt={name.key} /> : null}
      {shown?.kind === 'text' ? (
        <>
          <pre class="preview" tabIndex={0} aria-label={SAYS.preview}>
            {shown.text}
          </pre>
          {shown.isWhole ? null : <p class="soft">{SAYS.onlyStart}</p>}
        </>
      ) : null}
    </div>
  )
}
