/**
 * The contract documents as files: `docs/openapi/<name>.json` holds exactly this text. [native: 7]
 */
import { adminDocument } from '../admin/routes.ts'
import { dataDocument } from '../native/routes.ts'

const OPENAPI_DOCUMENTS = { data: dataDocument, admin: adminDocument } as const

type OpenApiName = keyof typeof OPENAPI_DOCUMENTS

export function openApiText(name: OpenApiName): string {
  return `${JSON.stringify(OPENAPI_DOCUMENTS[name](), null, 2)}\n`
}
