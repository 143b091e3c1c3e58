/**
 * The versions of an object, the newest first: each can be saved, made the newest again, or removed for good.
 */
import { useState } from 'preact/hooks'
import { BY_KEY } from '../parts/access.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { Badge, RowButton, Time } from '../parts/basics.tsx'
import { DoneDialog } from '../parts/done-dialog.tsx'
import { save } from '../state/downloads.ts'
import { type OneObject, type Version, VERSIONS_MAX } from '../state/object-data.ts'
import { bytes } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.objects
const CHARS_SHOWN = 12

export function Versions({
  one: { name, versions },
  onChanged,
}: {
  readonly one: OneObject
  readonly onChanged: () => void
}) {
  const [removed, setRemoved] = useState<Version | null>(null)
  if (versions.length < 2 && versions.every(({ isDeleteMarker }) => !isDeleteMarker)) return null
  return (
    <section aria-label={SAYS.versions}>
      <h3>{SAYS.versions}</h3>
      <ol class="timeline">
        {versions.map((version) => (
          <One
            key={version.versionId}
            name={name}
            version={version}
            onChanged={onChanged}
            onRemove={() => setRemoved(version)}
          />
        ))}
      </ol>
      {versions.length === VERSIONS_MAX ? <p class="soft">{SAYS.moreVersions(VERSIONS_MAX)}</p> : null}
      {removed === null ? null : (
        <DoneDialog
          title={SAYS.removeVersion}
          about={SAYS.removeVersionAbout}
          submit={SAYS.delete}
          confirm={removed.versionId.slice(0, CHARS_SHOWN)}
          run={(api) => api.deleteObject({ ...name, versionId: removed.versionId })}
          onClose={() => {
            setRemoved(null)
            onChanged()
          }}
        />
      )}
    </section>
  )
}

function One({
  name,
  version,
  onChanged,
  onRemove,
}: {
  readonly name: OneObject['name']
  readonly version: Version
  readonly onChanged: () => void
  readonly onRemove: () => void
}) {
  const { versionId, isLatest, isDeleteMarker, lastModified, size = 0 } = version
  const short = versionId.slice(0, CHARS_SHOWN)
  const { bucket, key } = name
  return (
    <li>
      <div class="head">
        <b>
          <Time iso={lastModified} />
        </b>
        {isLatest ? <Badge tone="info">{SAYS.newest}</Badge> : null}
        {isDeleteMarker ? <Badge tone="warn">{SAYS.marker}</Badge> : <span class="soft">{bytes(size)}</span>}
        <span class="code soft">{short}</span>
      </div>
      <div class="actions">
        {isDeleteMarker || isLatest ? null : (
          <ActionButton
            access={BY_KEY}
            label={`${SAYS.restore}: ${short}`}
            run={(api) =>
              api.copyObject({
                ...name,
                sourceBucket: bucket,
                sourceKey: key,
                sourceVersionId: versionId,
              })
            }
            onDone={onChanged}
          >
            {SAYS.restore}
          </ActionButton>
        )}
        {isDeleteMarker ? null : (
          <ActionButton
            access={BY_KEY}
            label={`${SAYS.download}: ${short}`}
            run={(api) => save(api, { ...name, versionId, size }, () => undefined)}
            asks={(api) => api.getObject({ ...name, versionId })}
          >
            {SAYS.download}
          </ActionButton>
        )}
        <RowButton text={SAYS.removeVersion} of={short} onClick={onRemove} />
      </div>
    </li>
  )
}
