import { CustomersList } from '../parts/customers-list.js';
import { Link, navigate } from '../parts/link.js';
import type { Filters } from '../rules/route.js';
import { texts } from '../texts.js';
import { SearchPage } from './search.js';

interface Props {
  readonly userId: string | null;
  readonly filters: Filters;
}

/** Lists customers, or shows one by its id. */
export const CustomersPage = ({ userId, filters }: Props) =>
  userId === null ? (
    <>
      <h1>{texts.pages.customers}</h1>
      <CustomersList filters={filters} />
    </>
  ) : (
    <>
      <p>
        <Link to="customers">{texts.buttons.allCustomers}</Link>
      </p>
      <SearchPage text={userId} isCustomer onFound={navigate} />
    </>
  );
