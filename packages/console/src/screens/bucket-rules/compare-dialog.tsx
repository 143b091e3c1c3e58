/**
 * Both sites of a replicated bucket are listed and compared, a page at a time, to a bound.
 */
import { useState } from 'preact/hooks'
import type { DataOperations, Holdfast } from '../../../../client/src/index.ts'
import { Badge, type Tone } from '../../parts/basics.tsx'
import { DoneDialog } from '../../parts/done-dialog.tsx'
import { Table } from '../../parts/table.tsx'
import { count } from '../../words/format.ts'
import { TEXT } from '../../words/strings.ts'

const SAYS = TEXT.replication
const ANSWERS_MAX = 50
const DIFFERENCES_MAX = 500

type Difference = DataOperations['compareBucketReplication']['answer']['differences'][number]

interface Compared {
  readonly keys: number
  readonly differences: readonly Difference[]
  readonly isWhole: boolean
}

const TONE: Readonly<Record<Difference['difference'], Tone>> = {
  missing: 'bad',
  extra: 'warn',
  different: 'bad',
  waiting: 'info',
  not_replicable: 'quiet',
}

async function compared(api: Holdfast, bucket: string, onPage: (found: Compared) => void): Promise<Compared> {
  let found: Compared = { keys: 0, differences: [], isWhole: false }
  let token: string | undefined
  for (let n = 0; n < ANSWERS_MAX && found.differences.length < DIFFERENCES_MAX; n++) {
    const page = await api.compareBucketReplication({
      bucket,
      ...(token === undefined ? {} : { continuationToken: token }),
    })
    token = page.nextContinuationToken
    found = {
      keys: found.keys + page.compared,
      differences: [...found.differences, ...page.differences].slice(0, DIFFERENCES_MAX),
      isWhole: token === undefined,
    }
    onPage(found)
    if (token === undefined) break
  }
  return found
}

export function Compare({ bucket, onClose }: { readonly bucket: string; readonly onClose: () => void }) {
  const [keys, setKeys] = useState(0)
  return (
    <DoneDialog
      title={SAYS.compare}
      about={SAYS.compareAbout}
      fields={keys === 0 ? null : <p role="status">{SAYS.compared(count(keys))}</p>}
      submit={SAYS.compare}
      run={(api) => compared(api, bucket, (found) => setKeys(found.keys))}
      done={({ keys: all, differences, isWhole }) => (
        <>
          <p>
            {SAYS.compared(count(all))} {isWhole ? '' : SAYS.moreDifferences}
          </p>
          <Table
            label={SAYS.difference}
            empty={SAYS.equal}
            keyOf={({ key, difference }) => `${difference} ${key}`}
            rows={differences}
            columns={[
              { head: SAYS.objectKey, cell: ({ key }) => <span class="code">{key}</span> },
              {
                head: SAYS.difference,
                cell: ({ difference }) => (
                  <Badge tone={TONE[difference]}>{SAYS.differences[difference]}</Badge>
                ),
              },
            ]}
          />
        </>
      )}
      onClose={onClose}
    />
  )
}
