import type { JsonObject } from '../../../src-preload/contract/json.ts';
import { policyParamsBytesMax, policyParamsSchema, policyTemplate } from '../../../src-preload/contract/ledger.ts';
import { Fault } from '../../base/fault.ts';
import { canonicalParams } from '../../canonical/consolidation.ts';

/** Refuses a template that there is none of. Throws CONSOLIDATION_POLICY_TEMPLATE_INVALID. */
export function requireTemplate(templateId: string): void {
  if (templateId !== policyTemplate)
    throw new Fault(
      'CONSOLIDATION_POLICY_TEMPLATE_INVALID',
      `template_id: there is no such template. Use ${policyTemplate}.`,
    );
}

/**
 * The canonical text of parameters of the one form there is (`ledger.md` §5), at most 8 KiB. Throws
 * CONSOLIDATION_POLICY_PARAMS_INVALID naming the first field that is not so.
 */
export function readPolicyParams(params: JsonObject): string {
  const parsed = policyParamsSchema.safeParse(params);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = ['params', ...(issue?.path ?? [])].join('.');
    throw paramsInvalid(`${field}: ${issue?.message ?? 'not of the declared form'}.`);
  }
  const text = canonicalParams(params);
  if (text.length > policyParamsBytesMax)
    throw paramsInvalid(
      `params: ${text.length} bytes as canonical text are more than ${policyParamsBytesMax}. Shorten them.`,
    );
  return text;
}

function paramsInvalid(message: string): Fault {
  return new Fault('CONSOLIDATION_POLICY_PARAMS_INVALID', message);
}
