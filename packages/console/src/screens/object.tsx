/**
 * One object: what it is, its bytes, its versions as a time line, its tags and locks, a link to it, its removal.
 */
import { useEffect, useState } from 'preact/hooks'
import { Button, FactList, Loaded, Notice, Time } from '../parts/basics.tsx'
import { BY_KEY } from '../parts/access.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { objectName, oneObject, type OneObject } from '../state/object-data.ts'
import { bytes } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'
import { Bytes } from './object-bytes.tsx'
import { DeleteObject, EditTags, SetHold, SetRetention, ShareLink } from './object-dialogs.tsx'
import { Versions } from './object-versions.tsx'

const SAYS = TEXT.objects

type Open = 'share' | 'delete' | 'tags' | 'retention' | 'hold'

export function ObjectDialog({
  bucket,
  objectKey: key,
  isVersioned,
  onClose,
}: {
  readonly bucket: string
  readonly objectKey: string
  readonly isVersioned: boolean
  readonly onClose: () => void
}) {
  const [open, setOpen] = useState<Open | null>(null)
  const [undo, setUndo] = useState<string | null>(null)
  useEffect(() => {
    oneObject.forget()
    objectName.value = { bucket, key }
    void oneObject.load()
  }, [bucket, key])
  const changed = (): void => {
    setOpen(null)
    void oneObject.load()
  }
  return (
    <Dialog title={key} onClose={onClose}>
      <Loaded of={oneObject}>
        {(one) => (
          <>
            {one.needsClientKey ? (
              <Notice tone="info" title={SAYS.clientKey}>
                <p>{SAYS.clientKeyAbout}</p>
              </Notice>
            ) : one.head === null ? (
              <Gone undo={undo} one={one} onUndone={changed} />
            ) : null}
            {one.head === null ? null : <Facts one={one} />}
            {one.head === null ? null : <Bytes one={one} />}
            {one.head === null && !one.needsClientKey ? null : <Actions one={one} onOpen={setOpen} />}
            <Versions one={one} onChanged={changed} />
            {open === null ? null : (
              <Opened
                open={open}
                one={one}
                isVersioned={isVersioned}
                onClose={changed}
                onDeleted={(markerId) => {
                  setUndo(markerId)
                  changed()
                }}
              />
            )}
          </>
        )}
      </Loaded>
    </Dialog>
  )
}

function Actions({
  one: { hold },
  onOpen,
}: {
  readonly one: OneObject
  readonly onOpen: (what: Open) => void
}) {
  return (
    <div class="actions">
      <Button onClick={() => onOpen('share')}>{SAYS.share}</Button>
      <Button onClick={() => onOpen('tags')}>{SAYS.editTags}</Button>
      <Button onClick={() => onOpen('retention')}>{SAYS.setRetention}</Button>
      <Button onClick={() => onOpen('hold')}>
        {hold?.status === 'ON' ? SAYS.takeHoldOff : SAYS.putHold}
      </Button>
      <Button onClick={() => onOpen('delete')}>{SAYS.delete}</Button>
    </div>
  )
}

function Opened({
  open,
  one,
  isVersioned,
  onClose,
  onDeleted,
}: {
  readonly open: Open
  readonly one: OneObject
  readonly isVersioned: boolean
  readonly onClose: () => void
  readonly onDeleted: (markerId: string | null) => void
}) {
  switch (open) {
    case 'share':
      return <ShareLink name={one.name} onClose={onClose} />
    case 'tags':
      return <EditTags name={one.name} tags={one.tags} onClose={onClose} />
    case 'retention':
      return <SetRetention name={one.name} retention={one.retention} onClose={onClose} />
    case 'hold':
      return <SetHold name={one.name} isOn={one.hold?.status === 'ON'} onClose={onClose} />
    case 'delete':
      return (
        <DeleteObject name={one.name} isVersioned={isVersioned} onClose={onClose} onDeleted={onDeleted} />
      )
  }
}

function Gone({
  undo,
  one,
  onUndone,
}: {
  readonly undo: string | null
  readonly one: OneObject
  readonly onUndone: () => void
}) {
  const marker =
    undo ?? one.versions.find(({ isLatest, isDeleteMarker }) => isLatest && isDeleteMarker)?.versionId
  return (
    <Notice tone="info" title={SAYS.deleted}>
      {marker === undefined ? null : <Undo one={one} markerId={marker} onUndone={onUndone} />}
    </Notice>
  )
}

function Undo({
  one: { name },
  markerId,
  onUndone,
}: {
  readonly one: OneObject
  readonly markerId: string
  readonly onUndone: () => void
}) {
  return (
    <ActionButton
      access={BY_KEY}
      label={SAYS.undo}
      run={(api) => api.deleteObject({ ...name, versionId: markerId })}
      onDone={onUndone}
    />
  )
}

function Facts({ one: { head, tags, retention, hold } }: { readonly one: OneObject }) {
  if (head === null) return null
  const pairs = Object.entries({ ...head.metadata })
  const tagPairs = Object.entries(tags)
  return (
    <FactList
      rows={[
        [SAYS.size, bytes(head.size ?? 0)],
        [SAYS.type, head.contentType ?? TEXT.unknown],
        [SAYS.changed, <Time iso={head.lastModified} />],
        [SAYS.etag, <span class="code">{head.etag}</span>],
        ...Object.entries(head.checksums).map(
          ([algorithm, value]) => [algorithm, <span class="code">{value}</span>] as const,
        ),
        ...pairs.map(([name, value]) => [name, value] as const),
        ...(tagPairs.length === 0
          ? []
          : [[SAYS.tags, tagPairs.map(([name, value]) => `${name}=${value}`).join(', ')] as const]),
        ...(retention === null
          ? []
          : ([
              [
                SAYS.retention,
                <span>
                  {retention.mode} <Time iso={retention.retainUntil} />
                </span>,
              ],
            ] as const)),
        ...(hold?.status === 'ON' ? ([[SAYS.hold, SAYS.on]] as const) : []),
      ]}
    />
  )
}
