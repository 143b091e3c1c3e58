/**
 * The check that no row of the audit log was changed or removed.
 */
import type { VerifiedAuditLog } from '../../../client/src/admin.ts'
import { BY_TOKEN } from '../parts/access.ts'
import { Bar, Button, Card, FactList, FaultNotice, Notice } from '../parts/basics.tsx'
import { LineButton } from '../parts/curl-line.tsx'
import { cancelCheck, checkChain, checked, checkFault, isChecking, partOf } from '../state/chain-check.ts'
import { count } from '../words/format.ts'
import { TEXT } from '../words/strings.ts'

const SAYS = TEXT.audit.chain

export function ChainCard() {
  const found = checked.value
  return (
    <Card
      title={SAYS.title}
      actions={
        isChecking.value ? (
          <Button onClick={cancelCheck}>{SAYS.cancel}</Button>
        ) : (
          <>
            <Button needs="verifyAuditChain" onClick={() => void checkChain()}>
              {SAYS.start}
            </Button>
            <LineButton of={SAYS.start} line={() => BY_TOKEN.line((api) => partOf(api))} />
          </>
        )
      }
    >
      {checkFault.value === null ? null : <FaultNotice fault={checkFault.value} />}
      {found === null ? null : <Found found={found} />}
      <p class="soft">{SAYS.about}</p>
    </Card>
  )
}

function Found({ found }: { readonly found: VerifiedAuditLog }) {
  const { first, to, end, segments, links, rows, head, firstFault, isTruncated } = found
  const all = end - first
  return (
    <div class="stack">
      <Bar share={all === 0 ? 1 : (to - first) / all} label={SAYS.progress} />
      {firstFault === null ? null : (
        <Notice tone="bad" title={SAYS.faulty}>
          <p>
            {SAYS.kinds[firstFault.kind]}
            {firstFault.segment === null ? null : SAYS.inSegment(firstFault.segment)}: {firstFault.text}
          </p>
        </Notice>
      )}
      {isTruncated ? (
        isChecking.value ? null : (
          <Notice tone="warn" title={SAYS.ended} />
        )
      ) : firstFault === null ? (
        <Notice tone="good" title={SAYS.whole} />
      ) : null}
      <FactList
        rows={[
          [SAYS.links, `${count(links)} / ${count(all)}`],
          [SAYS.rows, count(rows)],
          [SAYS.segments, count(segments)],
        ]}
      />
      {isTruncated ? null : (
        <p>
          {SAYS.head}: <span class="code">{head}</span>
        </p>
      )}
    </div>
  )
}
