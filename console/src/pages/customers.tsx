import { CustomersList } from '../parts/customers-list.js';
import { Link, navigate } from '../parts/link.js';
import type { Filters } from '../rules/route.js';
import { SearchPage } from './search.js';

interface Props {
  readonly userId: string | null;
  readonly filters: Filters;
}

/** Lists customers, or shows one by its id. */
export const CustomersPage = ({ userId, filters }: Props) =>
  userId === null ? (
    <>
      <h1>Customers</h1>
      <CustomersList filters={filters} />
    </>
  ) : (
    <>
      <p>
        <Link to="customers">All customers</Link>
      </p>
      <SearchPage text={userId} isCustomer onFound={navigate} />
    </>
  );
