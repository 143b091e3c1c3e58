/**
 * What the replication of a bucket and that of a tenant have in common on the wire.
 */
import Type, { type Static } from 'typebox'
import { PRINTABLE_PATTERN } from '../../base/printable.ts'
import {
  SITE_DELETES,
  SITE_REGION_USUAL,
  SITE_RULE_ID_CHARACTERS_MAX,
  type SiteRuleInput,
} from '../../operations/replication/replication-config.ts'
import { SITE_RULES_MAX, type SiteRule } from '../../state-machine/sites/records.ts'
import { documented } from '../documented.ts'
import { Tags } from './given-schemas.ts'

const Filter = Type.Object(
  {
    prefix: Type.Optional(Type.String(documented({ maxLength: 1024, pattern: '^[^\\u0000]*$' }))),
    tags: Type.Optional(Tags),
  },
  { additionalProperties: false, description: 'Every condition has to hold; none: all objects' },
)

const RuleView = Type.Object(
  {
    id: Type.Optional(
      Type.String(
        documented({ minLength: 1, maxLength: SITE_RULE_ID_CHARACTERS_MAX, pattern: PRINTABLE_PATTERN }),
      ),
    ),
    status: Type.Optional(Type.String(documented({ enum: ['Enabled', 'Disabled'] }))),
    filter: Type.Optional(Filter),
    deletes: Type.Optional(
      Type.String({
        description:
          'Which deletions go there: none; markers, which name no version; all, also of versions by their id. Usually markers, and none of a rule with tags',
        ...documented({ enum: [...SITE_DELETES] }),
      }),
    ),
  },
  { additionalProperties: false },
)

/** Where the store of a target is, and who asks it. */
export const STORE = {
  endpoint: Type.String({ description: 'Address of the store, without a bucket' }),
  region: Type.Optional(Type.String({ description: `Usually ${SITE_REGION_USUAL}` })),
  virtualHost: Type.Optional(Type.Boolean({ description: 'The bucket is part of the name of the host' })),
  accessKeyId: Type.String(),
}

export const SECRET_KEY = Type.Optional(
  Type.String({
    description: 'Never shown again. Absent: the present one stays, with endpoint and accessKeyId',
  }),
)

export const Rules = Type.Array(RuleView, documented({ maxItems: SITE_RULES_MAX }))

export function ruleIn({ filter, ...rule }: Static<typeof RuleView>): SiteRuleInput {
  if (filter === undefined) return rule
  const { tags, ...plain } = filter
  return { ...rule, filter: tags === undefined ? plain : { ...plain, tags: Object.entries(tags) } }
}

export function ruleView({ id, isEnabled, prefix, tags, deletes }: SiteRule): Static<typeof RuleView> {
  return {
    id,
    status: isEnabled ? 'Enabled' : 'Disabled',
    filter: {
      ...(prefix === '' ? {} : { prefix }),
      ...(Object.keys(tags).length === 0 ? {} : { tags: { ...tags } }),
    },
    deletes,
  }
}
